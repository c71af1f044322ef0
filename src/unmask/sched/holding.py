"""Whether a batch that could begin waits for another request to join it.

Only an idle engine is ever held: while something runs, whoever arrives waits anyway, and batches fill by themselves.
What holding gains and costs is added up in seconds over everybody concerned, from what was measured: what ticks take by
their rows (`Forecast`), and how far apart requests have come of late. See docs/design/005-queues.md.
"""

from collections import deque
from collections.abc import Sequence as Items
from dataclasses import dataclass
from math import sqrt

from unmask.sched.forecast import Forecast
from unmask.sched.queue import WaitingQueue
from unmask.sched.settings import SchedSettings
from unmask.service import Batching, Holds
from unmask.types import Bucket

LEAST_GAPS = 16
MOST_GAPS = 64
"""Gaps between arrivals before which nothing is held, and those that are remembered."""
SURE = 3.0
"""Standard errors by which a hold has to gain: of the many that are compared some look good by chance."""
LEAST_HOLD_S = 0.000_1
"""What comes sooner is there by the time that a thread has gone to sleep and woken up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """What it means to begin without the next arrival, in seconds.

    Attributes:
        waits: how long one that comes right after the beginning waits for its own.
        apart: what it then takes by itself, less what it would have taken with them; never more than 0.
        slower: what it takes of the others' time by joining them.
    """

    waits: float
    apart: float
    slower: float

    def saved(self, waiting: int, after: float) -> float:
        """Return the seconds that all save together if the next arrival, ``after`` so many, is waited for."""
        return max(self.waits - after, 0.0) + self.apart - waiting * (after + self.slower)


def best_hold(waiting: int, elapsed: float, gaps: Items[float], missing: Missing, most: float) -> float:
    """Return for how many seconds those who wait surely gain by waiting on; 0 where it may cost more than it brings.

    Args:
        waiting: requests that wait.
        elapsed: seconds since the last one came.
        gaps: seconds between arrivals, of late. The next one is taken to come as these did, those aside that would be
            over by now.
        missing: what it means to begin without it.
        most: seconds for which they may be held at most.
    """
    left = sorted(gap - elapsed for gap in gaps if gap - elapsed >= LEAST_HOLD_S)
    best, best_s, came, squares = 0.0, 0.0, 0.0, 0.0
    for place, after in enumerate(left, start=1):
        if after > most:
            break
        saved, lost = missing.saved(waiting, after), waiting * after
        came += saved
        squares += saved * saved
        late = len(left) - place
        value = came - late * lost
        chance = SURE * sqrt(max(0.0, squares + late * lost * lost - value * value / len(left)))
        if value - chance > best:
            best, best_s = value - chance, after
    return best_s


class Hold:
    """Decides when an idle engine begins. It knows no clock: it is told the time."""

    def __init__(self, settings: SchedSettings, forecast: Forecast) -> None:
        self._settings = settings
        self._forecast = forecast
        self._gaps: dict[Bucket | None, deque[float]] = {}
        self._last: dict[Bucket | None, float] = {}
        self._since: float | None = None
        self._there = 0
        self.holds = Holds()

    def arrived(self, bucket: Bucket | None, at: float) -> None:
        """Take note of an arrival; a further attempt, which keeps an earlier one, is none."""
        key = self._key(bucket)
        last = self._last.setdefault(key, at)
        if at > last:
            self._gaps.setdefault(key, deque(maxlen=MOST_GAPS)).append(at - last)
            self._last[key] = at

    def until(self, queue: WaitingQueue, now: float, *, is_idle: bool) -> float | None:
        """Return when those who wait begin, where that is later than now; asked again when somebody arrives."""
        seconds = self._seconds(queue, now) if is_idle and len(queue) else 0.0
        if seconds <= 0.0:
            self._begin(len(queue), now)
            return None
        if self._since is None:
            self._since, self._there = now, len(queue)
        return now + seconds

    def _begin(self, waiting: int, now: float) -> None:
        """Take note that nobody is held any more."""
        if self._since is None:
            return
        self.holds = Holds(
            count=self.holds.count + 1,
            seconds=self.holds.seconds + now - self._since,
            joined=self.holds.joined + max(0, waiting - self._there),
        )
        self._since = None

    def _seconds(self, queue: WaitingQueue, now: float) -> float:
        rows = len(queue)
        buckets = {self._key(bucket): count for bucket, count in queue.in_buckets().items() if count}
        if rows >= self._settings.max_rows or len(buckets) > 1:
            return 0.0
        (key,) = buckets
        gaps, steps = self._gaps.get(key, ()), queue.most_steps()
        longest = self._forecast.run_s(self._settings.max_rows, steps)
        missing = self._missing(rows, steps)
        if len(gaps) < LEAST_GAPS or longest is None or missing is None:
            return 0.0
        most = min(queue.earliest_due() - longest, queue.earliest_arrival() + self._settings.fill_wait_s) - now
        return best_hold(rows, now - self._last[key], gaps, missing, most)

    def _missing(self, rows: int, steps: int) -> Missing | None:
        """Return what one misses who comes right after these have begun; nothing where too little was seen.

        That is a batch, of as many of its steps as are taken of late; where requests join at every step, one tick.
        """
        ticks = 1.0 if self._settings.batching is Batching.STEP else steps * self._forecast.taken
        alone, now, together = (self._forecast.run_s(count, ticks) for count in (1, rows, rows + 1))
        if alone is None or now is None or together is None:
            return None
        return Missing(waits=now, apart=alone - together, slower=together - now)

    def _key(self, bucket: Bucket | None) -> Bucket | None:
        """Return whose arrivals count together: those who may share a batch."""
        return bucket if self._settings.batching is Batching.ALIGNED else None
