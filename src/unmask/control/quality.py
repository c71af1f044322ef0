"""Which quality level load leaves a class of a model's requests: a state, and how it goes on from what is seen.

Load is told by pressure: the time in which all of the class's work is done, over
the time that its requests may wait. It looks ahead, where latencies tell of
requests that came before. Quality goes down at once and up slowly: the control
of Brownout (Klein, Maggio and Årzén 2014) with steps in place of a share, and
with waits that grow where going up was a mistake.
"""

from dataclasses import dataclass, replace
from math import ceil, floor, log2

from unmask.search.plan import SearchPlan

HIGH = 0.8
"""Pressure above which quality goes down."""
LOW = 0.5
"""Pressure below which it goes up, once that has lasted."""
GROWTH = 1.25
"""Growth of pressure, since a step down, that shows the step was not enough."""
LEAST_DWELL_S = 5.0
SERVICE_TIMES = 2.0
"""A level stays for so many times the 95th percentile of what requests take: those of before are still being served."""
MOST_CLIMBS = 3
"""Doublings of that wait, where levels gone up to could not be kept for as long as the longest wait."""
BLIND_LEVEL = 2
"""The level that requests have at most while nobody knows the load: half of what they ask for is not all of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityLevel:
    """What load leaves of a request.

    Attributes:
        number: 0 leaves all of it; the higher, the less.
        width: most candidates or paths of its search; ``None``: as many as it asks for.
        smaller_bucket: whether its budget is the next smaller bucket, where its task type's policy has one.
    """

    number: int
    width: int | None = None
    smaller_bucket: bool = False

    def capped(self, plan: SearchPlan) -> SearchPlan:
        """Return a search as wide as this level allows."""
        return plan if self.width is None or plan.width <= self.width else replace(plan, width=self.width)


LEVELS = (
    QualityLevel(number=0),
    QualityLevel(number=1, width=4),
    QualityLevel(number=2, width=2),
    QualityLevel(number=3, width=1),
    QualityLevel(number=4, width=1, smaller_bucket=True),
)
"""Each halves what a search of eight takes; the last takes from what is not searched as well."""
FULL = LEVELS[0]
DEFAULT_FLOOR = 3
"""The lowest level where nobody says which: it leaves requests without a search as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelState:
    """Where a class is, and what it takes to leave.

    Attributes:
        level: number of its level.
        changed: when it got there; ``None``: it was there from the start.
        rose: whether it came there from below, that is from less quality.
        calm: since when pressure has been low at every look; ``None``: it is not.
        answered: the pressure that the last step down was for.
        climbs: how often in a row a step up could not be kept.
    """

    level: int = 0
    changed: float | None = None
    rose: bool = False
    calm: float | None = None
    answered: float = 0.0
    climbs: int = 0

    def wait_s(self, dwell_s: float) -> float:
        """Return how long low pressure has to last for a step up."""
        return dwell_s * 2.0**self.climbs


def dwell_of(service_p95_s: float | None) -> float:
    """Return how long a level stays, in seconds, from the 95th percentile of what requests take."""
    return max(LEAST_DWELL_S, SERVICE_TIMES * (service_p95_s or 0.0))


def looked(state: LevelState, pressure: float, *, now: float, dwell_s: float, lowest: int) -> LevelState:
    """Return the state after a look at the load.

    Above `HIGH` it goes down, by as many levels as halve the pressure often enough; then, until the dwell time is
    over, only where pressure still grows, since what was asked for before is still being served. Below `LOW` it
    goes up by one level whenever that has lasted for the wait; so a look after a long silence finds the level that
    looks in between would have led to. A step up that has to be taken back doubles the wait of the next.

    Args:
        state: before.
        pressure: seconds of work over seconds that it may wait.
        now: on any clock that runs evenly.
        dwell_s: from `dwell_of`.
        lowest: the class's floor, as the number of a level.
    """
    if pressure > HIGH:
        return _pressed(replace(state, calm=None), pressure, now, dwell_s, lowest)
    if pressure >= LOW:
        return replace(state, calm=None)
    return _calm(replace(state, calm=now) if state.calm is None else state, now, dwell_s)


def blind(state: LevelState, *, now: float, lowest: int) -> LevelState:
    """Return the state after a look that told nothing: down to `BLIND_LEVEL` at most, and never up."""
    level = max(state.level, min(BLIND_LEVEL, lowest))
    if level == state.level:
        return replace(state, calm=None)
    return replace(state, level=level, changed=now, rose=False, calm=None, answered=HIGH)


def _pressed(state: LevelState, pressure: float, now: float, dwell_s: float, lowest: int) -> LevelState:
    since = None if state.changed is None else now - state.changed
    settles = since is not None and since < dwell_s and not state.rose
    times = pressure / max(state.answered, HIGH) if settles else pressure / HIGH
    # Beyond the ladder it does not matter by how much.
    octaves = log2(min(times, 2.0 ** len(LEVELS)))
    steps = ceil(octaves) if not settles else max(1, floor(octaves)) if times >= GROWTH else 0
    level = min(state.level + steps, lowest)
    if level <= state.level:
        return state
    climbs = state.climbs
    if state.rose and since is not None:
        was_kept = since >= dwell_s * 2.0**MOST_CLIMBS
        climbs = 0 if was_kept else min(climbs + 1, MOST_CLIMBS)
    return LevelState(level=level, changed=now, answered=pressure, climbs=climbs)


def _calm(state: LevelState, now: float, dwell_s: float) -> LevelState:
    while state.level > 0 and state.calm is not None:
        since = state.calm if state.changed is None else max(state.calm, state.changed)
        due = since + state.wait_s(dwell_s)
        if now < due:
            return state
        state = replace(state, level=state.level - 1, changed=due, rose=True)
    return state
