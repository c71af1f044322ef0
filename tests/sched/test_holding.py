"""Whether an idle engine waits for a batch to fill."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sched.test_batcher import SETTINGS
from unmask.sched.batcher import Batcher, Changes
from unmask.sched.forecast import LEAST_ENDED, LEAST_TICKS, Forecast
from unmask.sched.holding import LEAST_GAPS, LEAST_HOLD_S, Hold, Missing, best_hold
from unmask.sched.queue import WaitingQueue
from unmask.sched.settings import SchedSettings
from unmask.service import Batching, ClassTerms
from unmask.testing.manual_clock import ManualClock
from unmask.testing.networks import letter
from unmask.testing.sequences import make_sequence
from unmask.testing.submissions import make_submission
from unmask.types import Bucket

ALIGNED = replace(SETTINGS, batching=Batching.ALIGNED, max_rows=4, fill_wait_s=10.0)
SECONDS = st.floats(0.0, 20.0)
GAPS = st.lists(st.floats(0.0, 20.0), max_size=64)
MISSING = st.builds(Missing, waits=SECONDS, apart=st.floats(-5.0, 0.0), slower=st.floats(0.0, 5.0))
TICK_S = 1.0
"""Of one row; each further one adds `ROW_S`. A row of these tests has 8 tokens, and a request 4 steps."""
ROW_S = 0.1


def learned(settings: SchedSettings, *, row_s: float = ROW_S) -> Forecast:
    """Return a forecast that has seen what ticks of one and of two rows take, and requests that took every step."""
    forecast = Forecast(settings)
    for number in range(LEAST_TICKS):
        rows = 1 + number % 2
        forecast.ticked(rows, 8 * rows, TICK_S + row_s * (rows - 1))
    for _ in range(LEAST_ENDED):
        forecast.ended(make_sequence(), 0)
    return forecast


class Waiting:
    """A hold with a queue whose arrivals a test sets."""

    def __init__(self, settings: SchedSettings = ALIGNED, *, row_s: float = ROW_S) -> None:
        self.queue = WaitingQueue(100, settings.patience_s)
        self.now = 0.0
        self.hold = Hold(settings, learned(settings, row_s=row_s))
        self._next = 0

    def past(self, *gaps: float, bucket: Bucket | None = None) -> None:
        """Let requests have come so far apart, all of them gone by now."""
        for gap in gaps:
            self.now += gap
            self.hold.arrived(bucket, self.now)

    def arrive(self, after: float = 0.0, *, bucket: Bucket | None = None, deadline_s: float | None = None) -> None:
        """Let a request come and wait."""
        self.now += after
        self._next += 1
        terms = ClassTerms(deadline_s=deadline_s)
        submission = make_submission(bucket=bucket, terms=terms)
        self.queue.push(make_sequence(submission, id=self._next, arrived=self.now))
        self.hold.arrived(bucket, self.now)

    def held_s(self, *, is_idle: bool = True) -> float:
        """Return the seconds for which those who wait are held from now on."""
        until = self.hold.until(self.queue, self.now, is_idle=is_idle)
        return 0.0 if until is None else until - self.now


def bursts(waiting: Waiting, **changes: Bucket) -> None:
    """Let pairs have come, half a second apart and a minute between pairs, and the last one be long over."""
    waiting.past(*(60.0, 0.5) * LEAST_GAPS, **changes)
    waiting.now += 60.0


def test_the_second_of_a_pair_is_waited_for() -> None:
    """Half a second of the first for four of the second, which would otherwise wait for the whole batch."""
    waiting = Waiting()
    bursts(waiting)
    waiting.arrive()

    assert waiting.held_s() == pytest.approx(0.5)


def test_the_more_wait_the_less_it_pays() -> None:
    """A second for the fourth of a batch is taken from three."""
    held = []
    for count in (1, 3):
        waiting = Waiting()
        waiting.past(*(1.0, 1.0, 1.0, 60.0) * LEAST_GAPS)
        for _ in range(count):
            waiting.arrive(60.0 if not len(waiting.queue) else 0.0)
        held.append(waiting.held_s())

    assert held == [pytest.approx(1.0), 0.0]


def test_who_has_not_come_in_time_is_waited_for_no_more() -> None:
    """What is left of the gaps seen is then too long."""
    waiting = Waiting()
    bursts(waiting)
    waiting.arrive()
    waiting.now += 0.5

    assert waiting.held_s() == 0.0


def test_steady_arrivals_are_not_waited_for() -> None:
    """One each six seconds costs the first six for what is saved of four."""
    waiting = Waiting()
    waiting.past(*[6.0] * LEAST_GAPS)
    waiting.arrive(6.0)

    assert waiting.held_s() == 0.0


def test_rows_that_cost_as_much_together_as_apart_are_not_waited_for() -> None:
    """Where a second row doubles the batch, joining gains nothing over coming next."""
    waiting = Waiting(row_s=TICK_S)
    waiting.past(*[1.0] * LEAST_GAPS)
    waiting.arrive(1.0)

    assert waiting.held_s() == 0.0


def test_a_busy_engine_is_never_held() -> None:
    """What runs ends first anyway."""
    waiting = Waiting()
    bursts(waiting)
    waiting.arrive()

    assert waiting.held_s(is_idle=False) == 0.0


def test_joining_at_the_next_step_is_soon_enough() -> None:
    """With batches by step one who comes late misses a tick and no more: half of one is too long for that."""
    held = []
    for batching in Batching:
        waiting = Waiting(replace(ALIGNED, batching=batching))
        bursts(waiting)
        waiting.arrive()
        held.append(waiting.held_s())

    assert held == [0.0, pytest.approx(0.5)]


def test_other_buckets_are_not_kept_waiting() -> None:
    """Nobody is held for a request of another bucket, nor while requests of several wait."""
    waiting = Waiting()
    bursts(waiting, bucket=Bucket.S)
    waiting.arrive(bucket=Bucket.L)
    assert waiting.held_s() == 0.0

    waiting = Waiting()
    bursts(waiting, bucket=Bucket.S)
    waiting.arrive(bucket=Bucket.S)
    assert waiting.held_s() > 0.0
    waiting.arrive(bucket=Bucket.L)
    assert waiting.held_s() == 0.0


def test_nothing_is_held_before_enough_was_seen() -> None:
    """Neither of arrivals nor of ticks."""
    waiting = Waiting()
    waiting.past(*[0.5] * LEAST_GAPS)
    waiting.arrive(0.5)
    assert waiting.held_s() > 0.0

    few = Waiting()
    few.past(*[0.5] * (LEAST_GAPS - 2))
    few.arrive(0.5)
    assert few.held_s() == 0.0

    new = Waiting()
    new.hold = Hold(ALIGNED, Forecast(ALIGNED))
    new.past(*[0.5] * LEAST_GAPS)
    new.arrive(0.5)
    assert new.held_s() == 0.0


def test_a_full_batch_begins() -> None:
    """There is nothing to wait for."""
    waiting = Waiting()
    waiting.past(*[0.01] * LEAST_GAPS)
    for _ in range(ALIGNED.max_rows):
        assert waiting.held_s() == 0.0 or len(waiting.queue) < ALIGNED.max_rows
        waiting.arrive(0.01)

    assert waiting.held_s() == 0.0


def test_holds_are_counted() -> None:
    """How often, for how long, and who came meanwhile."""
    waiting = Waiting()
    bursts(waiting)
    waiting.arrive()
    waiting.held_s()
    waiting.arrive(0.5)
    waiting.now += 0.6
    waiting.held_s()

    assert (waiting.hold.holds.count, waiting.hold.holds.joined) == (1, 1)
    assert waiting.hold.holds.seconds == pytest.approx(1.1)


@given(st.integers(1, 16), SECONDS, GAPS, MISSING, SECONDS)
def test_a_hold_is_bounded_and_pays(
    waiting: int, elapsed: float, gaps: list[float], missing: Missing, most: float
) -> None:
    """Never longer than allowed; and had the next one come as any of those seen, all would gain together."""
    held = best_hold(waiting, elapsed, gaps, missing, most)
    left = [gap - elapsed for gap in gaps if gap - elapsed >= LEAST_HOLD_S]
    gains = [missing.saved(waiting, gap) if gap <= held else -waiting * held for gap in left]

    assert held == 0.0 or LEAST_HOLD_S <= held <= most
    assert held == 0.0 or sum(gains) > 0.0


@given(st.lists(st.floats(0.0, 2.0), min_size=LEAST_GAPS, max_size=40), st.floats(0.1, 60.0), st.integers(1, 3))
def test_nobody_waits_beyond_their_slack(gaps: list[float], deadline_s: float, count: int) -> None:
    """Held until a deadline can just be met by a full batch that takes every step, and no longer than it may be."""
    waiting = Waiting()
    waiting.past(*gaps)
    for _ in range(count):
        waiting.arrive(0.1, deadline_s=deadline_s)
    held = waiting.held_s()
    longest = 4 * (TICK_S + ROW_S * (ALIGNED.max_rows - 1))
    first = waiting.now - 0.1 * (count - 1)

    assert held == 0.0 or waiting.now + held <= first + min(deadline_s - longest, ALIGNED.fill_wait_s) + 1e-6


@pytest.mark.parametrize("batching", Batching)
def test_a_held_request_runs_when_its_time_is_over(batching: Batching) -> None:
    """The batcher says until when, and a tick from then on begins."""
    clock = ManualClock()
    settings = replace(ALIGNED, batching=batching)
    batcher = Batcher(settings, mask=0, end=1, token_bytes=letter, clock=clock)
    batcher.forecast = learned(settings)
    batcher.hold = Hold(settings, batcher.forecast)
    for gap in (0.2, 0.2, 0.2, 60.0) * LEAST_GAPS:
        clock.advance(gap)
        batcher.hold.arrived(None, clock.now())
    sequence = make_sequence(make_submission(), arrived=clock.now())
    batcher.add(sequence)
    plans = []
    for _ in range(2):
        plans.append(batcher.schedule(Changes()).rows)
        if batcher.held_until is not None:
            clock.advance(batcher.held_until - clock.now())

    assert [len(rows) for rows in plans] == [0, 1]
    assert sequence.started == pytest.approx(sequence.arrived + 0.2)
