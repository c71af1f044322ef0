"""Serving what arrives over time."""

from unmask.bench.arriving import Arrival, serve_arrivals
from unmask.core.core import Core
from unmask.plan import Row, RowResult, Task
from unmask.sched.settings import SchedSettings
from unmask.testing.cores import make_core
from unmask.testing.fake_engine import FakeEngine, fill
from unmask.testing.manual_clock import ManualClock
from unmask.testing.submissions import make_submission

SETTINGS = SchedSettings(max_rows=1)


def ticking(clock: ManualClock, row_s: float = 1.0) -> Core:
    """Return a core of one row that takes a second a step."""

    def script(_row: Row, task: Task) -> RowResult:
        clock.advance(row_s)
        return fill(task, 9)

    return make_core(FakeEngine(script), SETTINGS, clock=clock)


def arriving(*times: float, kind: str = "calm", steps: int = 2) -> list[Arrival]:
    """Return arrivals of one kind."""
    return [Arrival(time, kind, make_submission(max_steps=steps)) for time in times]


def test_latency_counts_from_when_a_request_was_due() -> None:
    """The second came while a step was running, and waits for the first to end."""
    clock = ManualClock(100.0)
    served = serve_arrivals(ticking(clock), arriving(0.5, 1.0), clock, clock.advance, longest_s=60, watched="calm")

    assert [round(wait, 1) for wait in served.waits("calm")] == [2.0, 3.5]
    assert served.answered("calm") == 2


def test_it_ends_once_the_watched_are_answered() -> None:
    """Others are abandoned, and counted as having taken until then at least."""
    clock = ManualClock()
    coming = sorted([*arriving(0.0), *arriving(0.0, kind="flood", steps=50)])
    served = serve_arrivals(ticking(clock), coming, clock, clock.advance, longest_s=60, watched="calm")

    assert served.seconds == 2.0
    assert served.waits("flood") == [2.0]
    assert (served.answered("calm"), served.answered("flood")) == (1, 0)


def test_it_ends_in_time_whatever_waits() -> None:
    """With more to do than there is time for, all is let go of, and what was done until then is counted."""
    clock = ManualClock()
    core = ticking(clock)
    served = serve_arrivals(core, arriving(0.0, 0.0, steps=50), clock, clock.advance, longest_s=10)

    assert core.is_idle
    assert served.seconds == 10.0
    assert served.tokens("calm") == 3 + 10 * 8


def test_first_text_is_when_the_first_canvas_is_done() -> None:
    """And the end, where an answer has no text; whoever looks at every tick sees each of them."""
    clock = ManualClock(100.0)
    ticks: list[float] = []
    served = serve_arrivals(
        ticking(clock),
        arriving(0.0),
        clock,
        clock.advance,
        longest_s=60,
        watched="calm",
        each_tick=lambda: ticks.append(clock.now()),
    )
    (visit,) = served.visits
    assert visit.sequence is not None
    assert visit.first == visit.sequence.finished == ticks[-1] == 102.0
