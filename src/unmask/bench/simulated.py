"""The scheduler as it serves over an engine that only takes time: for what is decided by queues and pages alone."""

from dataclasses import dataclass, replace
from math import inf

from unmask.core.core import Core, Listener
from unmask.plan import Plan, RowResult
from unmask.sched.batcher import Batcher
from unmask.sched.settings import SchedSettings
from unmask.sequence import Submission
from unmask.testing.fake_engine import fill
from unmask.testing.manual_clock import ManualClock

MASK, END, FILLED = 0, 1, 9


@dataclass(frozen=True, slots=True, kw_only=True)
class TickCost:
    """Seconds of a forward: of each, and for each of its tokens."""

    fixed_s: float
    token_s: float


PROCESSOR = TickCost(fixed_s=0.0015, token_s=0.000_044)
"""As 16 rows of `tiny` were measured on two cores: 26 ms for 590 tokens, and 1.5 ms beside the forward."""
FLAT = TickCost(fixed_s=0.010, token_s=0.000_002)
"""An assumed accelerator that reads its weights for 10 ms whatever the rows."""


class _TimedEngine:
    """Fills every canvas at its last step, and takes as long as its cost says."""

    def __init__(self, clock: ManualClock, cost: TickCost) -> None:
        self._clock = clock
        self._cost = cost

    def run(self, plan: Plan) -> tuple[RowResult, ...]:
        tokens = sum(row.tokens for row in plan.rows)
        self._clock.advance(self._cost.fixed_s + self._cost.token_s * tokens)
        return tuple(None if row.task is None else fill(row.task, FILLED) for row in plan.rows)


class SimulatedCore:
    """A core with a time of its own, which whoever drives it moves from event to event."""

    def __init__(self, settings: SchedSettings, cost: TickCost) -> None:
        self.clock = ManualClock()
        batcher = Batcher(settings, mask=MASK, end=END, token_bytes=_no_bytes, clock=self.clock)
        self.core = Core(_TimedEngine(self.clock, cost), batcher, self.clock)
        self._is_asked = False

    @property
    def ready_at(self) -> float:
        """When its next tick is; infinity while there is nothing to do."""
        if self.core.is_idle:
            return inf
        held = None if self._is_asked else self.core.batcher.held_until
        return self.clock.now() if held is None else max(held, self.clock.now())

    def submit(self, at: float, submission: Submission, listener: Listener) -> None:
        """Submit what arrives at a time; a tick that is under way then ends first."""
        self._move(at)
        self._is_asked = True
        self.core.submit(replace(submission, arrived=at), listener)

    def tick(self) -> None:
        """Run the next tick."""
        self._move(self.ready_at)
        self._is_asked = False
        self.core.tick()

    def _move(self, to: float) -> None:
        self.clock.advance(max(0.0, to - self.clock.now()))


def _no_bytes(_: int) -> bytes:
    return b""
