"""What a core publishes of itself."""

import logging
from dataclasses import replace

import pytest

from unmask.core.core import Core
from unmask.core.load import CoreLoad
from unmask.errors import QueueFullError
from unmask.plan import Plan, Row, RowResult, Task
from unmask.sched.forecast import LEAST_TICKS
from unmask.sched.settings import SchedSettings
from unmask.sequence import Sequence
from unmask.testing.cores import make_core
from unmask.testing.fake_engine import FakeEngine, fill
from unmask.testing.listeners import RecordingListener
from unmask.testing.manual_clock import ManualClock
from unmask.testing.submissions import make_submission
from unmask.work import NO_GROWTH, EngineWork, PageAlert

SETTINGS = SchedSettings(pages=8, page_size=8, max_rows=2)


def timed_core(clock: ManualClock, *, tick_s: float = 2.0) -> Core:
    """Return a core whose forwards take time on a clock that a test moves."""

    def script(_row: Row, task: Task) -> RowResult:
        clock.advance(tick_s)
        return fill(task, 9)

    return make_core(FakeEngine(script), SETTINGS, clock=clock)


def of_ticks(load: CoreLoad) -> CoreLoad:
    """Return a load but for what it says of each queue, of forwards, and of what came of them."""
    return replace(load, queues=(), work=EngineWork(), useful_tokens=0, growth=NO_GROWTH, service_p95_s=None)


def test_nothing_is_asked_of_a_new_core() -> None:
    """All is zero, and no tick is due however long nothing happens."""
    clock = ManualClock(5.0)
    core = timed_core(clock)
    clock.advance(3600)

    assert core.load == CoreLoad(at=5.0)
    assert core.stalled_s == 0


def test_load_follows_a_request_from_queue_to_end() -> None:
    """It waits once submitted, runs with its pages from the first tick, and leaves nothing but its steps."""
    clock = ManualClock()
    core = timed_core(clock)
    clock.advance(1)
    core.submit(make_submission(max_steps=3), RecordingListener())
    submitted = core.load
    core.tick()
    running = core.load
    core.tick()
    core.tick()

    assert of_ticks(submitted) == CoreLoad(at=1.0, waiting=1)
    assert of_ticks(running) == CoreLoad(at=3.0, running=1, pages_used=2, steps=1, ticks=1, busy_s=2.0)
    assert of_ticks(core.load) == CoreLoad(at=7.0, steps=3, ticks=3, busy_s=6.0)
    assert [load.queues[0].waiting for load in (submitted, running, core.load)] == [1, 0, 0]
    assert core.load.queues[0].admitted == 1


def test_steps_count_every_row_and_waiting_those_without_one() -> None:
    """With room for two of three, a tick takes two steps and leaves one request in the queue."""
    core = timed_core(ManualClock())
    for _ in range(3):
        core.submit(make_submission(), RecordingListener())
    core.tick()

    assert (core.load.running, core.load.waiting, core.load.steps) == (2, 1, 2)


def test_abandoned_requests_keep_their_steps_and_nothing_else() -> None:
    """After an abort the load is as before the request, what it has cost aside."""
    core = timed_core(ManualClock())
    number = core.submit(make_submission(max_steps=9), RecordingListener())
    core.tick()
    core.abort(number)
    core.tick()

    assert (core.load.running, core.load.waiting, core.load.pages_used) == (0, 0, 0)
    assert (core.load.steps, core.load.ticks) == (1, 2)


def test_failed_forward_leaves_nothing_behind(caplog: pytest.LogCaptureFixture) -> None:
    """Its requests are gone from the load, and it has taken no step."""
    caplog.set_level(logging.CRITICAL)
    core = make_core(FakeEngine(error=RuntimeError("broken")), SETTINGS)
    core.submit(make_submission(), RecordingListener())
    core.tick()

    assert of_ticks(core.load) == CoreLoad(at=0.0, ticks=1)


def test_refused_submission_changes_nothing() -> None:
    """Only what is taken counts."""
    core = make_core(FakeEngine(), SETTINGS, queue_limit=1)
    core.submit(make_submission(), RecordingListener())
    before = core.load
    with pytest.raises(QueueFullError):
        core.submit(make_submission(), RecordingListener())

    assert core.load is before


def test_end_of_the_thread_ends_the_load() -> None:
    """Once everything has been failed nothing runs or waits, though there was no tick."""
    core = timed_core(ManualClock())
    for _ in range(3):
        core.submit(make_submission(max_steps=9), RecordingListener())
    core.tick()
    core.fail_all("stopped")

    assert (core.load.running, core.load.waiting, core.load.pages_used) == (0, 0, 0)
    assert core.stalled_s == 0


def test_stall_is_measured_from_the_last_tick_or_the_work_that_came_after() -> None:
    """An hour without work is no stall; work without a tick is one from its arrival on, and a tick ends it."""
    clock = ManualClock()
    core = timed_core(clock)
    clock.advance(3600)
    core.submit(make_submission(max_steps=9), RecordingListener())
    clock.advance(10)
    waiting = core.stalled_s
    core.tick()
    ticked = core.stalled_s
    clock.advance(4)

    assert (waiting, ticked, core.stalled_s) == (10, 0, 4)


class Onlooker(RecordingListener):
    """Notes what the core says of itself when a request ends."""

    def __init__(self, core: Core) -> None:
        super().__init__()
        self.seen: list[CoreLoad] = []
        self._core = core

    def ended(self, sequence: Sequence) -> None:
        """Look at the load."""
        self.seen.append(self._core.load)


def test_who_is_told_of_an_end_finds_the_place_free() -> None:
    """The load is published before the listeners are told."""
    core = timed_core(ManualClock())
    onlooker = Onlooker(core)
    core.submit(make_submission(max_steps=1), onlooker)
    core.tick()

    assert [(load.running, load.pages_used) for load in onlooker.seen] == [(0, 0)]


def test_load_can_be_read_inside_a_tick() -> None:
    """A forward that takes for ever hides nothing: the queue before it is on show."""
    clock = ManualClock()
    seen: list[tuple[int, float]] = []

    class Looking(FakeEngine):
        def run(self, plan: Plan) -> tuple[RowResult, ...]:
            clock.advance(100)
            seen.append((core.load.waiting, core.stalled_s))
            return super().run(plan)

    core = make_core(Looking(), SETTINGS, clock=clock)
    core.submit(make_submission(max_steps=1), RecordingListener())
    core.tick()

    assert seen == [(1, 100)]


def test_pages_that_run_out_are_told_and_logged_not_too_often(caplog: pytest.LogCaptureFixture) -> None:
    """Each time that a watermark is reached counts; the log has a line a minute at most."""
    clock = ManualClock()
    settings = SchedSettings(pages=2, page_size=8, max_rows=4)
    core = make_core(FakeEngine(lambda _, task: fill(task, 9)), settings, clock=clock)
    alerts = []
    for _ in range(3):
        core.submit(make_submission(max_steps=2), RecordingListener())
        core.tick()
        alerts.append(core.load.page_alert)
        core.tick()
        alerts.append(core.load.page_alert)
        clock.advance(40)

    assert alerts == [PageAlert.CRITICAL, PageAlert.NONE] * 3
    assert core.load.page_alerts == 3
    assert caplog.messages == ["KV pages run out (critical): 2 of 2 in use; requests that find none wait"] * 2


def test_load_says_what_each_class_has_to_do_and_what_requests_take() -> None:
    """From the first submission on, once enough was seen; nothing of it is left at the end."""
    clock = ManualClock()
    core = timed_core(clock)
    for _ in range(LEAST_TICKS):
        core.submit(make_submission(max_steps=3), RecordingListener())
        while not core.is_idle:
            core.tick()
    idle = core.load
    core.submit(make_submission(max_steps=3), RecordingListener())
    (work,) = core.load.works

    assert idle.works == ()
    assert idle.service_p95_s is not None
    assert (work.service_class, work.slack_s) == ("", SETTINGS.patience_s)
    assert work.forwards > 0
    assert work.drain_s == pytest.approx(work.pressure * work.slack_s)
