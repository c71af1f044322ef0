"""Requests that would be late, and those that keep their place."""

from dataclasses import replace

import pytest

from unmask.core.core import Core, smaller_ones
from unmask.errors import ContextLengthError, DeadlineError, QueueFullError
from unmask.plan import Row, RowResult, Task
from unmask.sched.settings import PageReserve, SchedSettings
from unmask.sequence import Sequence, Submission
from unmask.service import ClassTerms, SmallerBudget
from unmask.testing.cores import make_core
from unmask.testing.fake_engine import FakeEngine, fill
from unmask.testing.listeners import RecordingListener
from unmask.testing.manual_clock import ManualClock
from unmask.testing.submissions import make_submission
from unmask.types import Bucket, StepBudget

SETTINGS = SchedSettings(pages=400, page_size=8, max_rows=1)
SOON = ClassTerms(name="interactive", deadline_s=10.0)
SMALLER = (SmallerBudget(bucket=Bucket.M, max_steps=8), SmallerBudget(bucket=Bucket.S, max_steps=4))


class Running:
    """A core of one row, a second a step, that has seen enough to predict."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.core: Core = make_core(FakeEngine(self._step), SETTINGS, clock=self.clock, queue_limit=50)
        for _ in range(20):
            self.submit(make_submission(max_steps=4))
            self.finish()

    def _step(self, _row: Row, task: Task) -> RowResult:
        self.clock.advance(1.0)
        return fill(task, 9)

    def submit(self, submission: Submission) -> RecordingListener:
        """Submit."""
        listener = RecordingListener()
        self.core.submit(submission, listener)
        return listener

    def finish(self) -> None:
        """Tick until nothing is left."""
        while not self.core.is_idle:
            self.core.tick()


def ended(listener: RecordingListener) -> Sequence:
    """Return the sequence that a listener has heard the end of."""
    (sequence,) = listener.endings
    return sequence


def test_a_request_that_would_be_late_is_refused_and_told_when_to_come_back() -> None:
    """With a minute of work before it, ten seconds are too few; those that wait are not touched."""
    running = Running()
    waiting = [running.submit(make_submission(max_steps=20, terms=replace(SOON, deadline_s=None))) for _ in range(3)]
    with pytest.raises(DeadlineError, match="interactive") as caught:
        running.submit(make_submission(max_steps=4, terms=SOON))
    running.finish()

    assert caught.value.retry_after_s is not None
    assert 40 < caught.value.retry_after_s < 75
    assert [ended(listener).steps for listener in waiting] == [20, 20, 20]


def test_one_that_is_in_time_is_taken() -> None:
    """With nothing before it four steps take four seconds; and without a deadline nothing is late."""
    running = Running()
    running.submit(make_submission(max_steps=4, terms=SOON))
    running.submit(make_submission(max_steps=500))
    running.submit(make_submission(max_steps=500))


def test_a_smaller_bucket_takes_the_place_of_a_refusal() -> None:
    """The largest that is answered in time, with its steps and no more."""
    running = Running()
    submission = make_submission(max_steps=16, bucket=Bucket.L, terms=SOON, smaller=SMALLER)
    listener = running.submit(submission)
    running.finish()
    served = ended(listener)

    assert served.submission.bucket is Bucket.M
    assert served.submission.budget == StepBudget(max_steps=8, max_total_steps=8)
    assert served.steps == 8


def test_smaller_budgets_never_raise_a_cap() -> None:
    """Neither that of a canvas nor that of the request."""
    submission = make_submission(max_steps=6, max_total_steps=7, max_tokens=16, smaller=SMALLER)

    assert [one.budget for one in smaller_ones(submission)] == [
        StepBudget(max_steps=6, max_total_steps=7),
        StepBudget(max_steps=4, max_total_steps=7),
    ]


def test_a_further_attempt_keeps_its_arrival() -> None:
    """It goes before what came after the first attempt, and its deadline has been running since."""
    running = Running()
    now = running.clock.now()
    running.submit(make_submission(max_steps=2))
    later = running.submit(make_submission(max_steps=2, arrived=now - 1.0))
    again = running.submit(make_submission(max_steps=2, arrived=now - 5.0))
    running.finish()

    assert ended(again).arrived == now - 5.0
    assert (ended(again).finished or 0) < (ended(later).finished or 0)
    with pytest.raises(DeadlineError):
        running.submit(make_submission(max_steps=4, terms=SOON, arrived=running.clock.now() - 9.0))


def test_nobody_arrives_in_the_future() -> None:
    """A clock that is ahead gives no better and no worse place than now."""
    running = Running()
    listener = running.submit(make_submission(max_steps=1, arrived=running.clock.now() + 100.0))
    arrived = running.clock.now()
    running.finish()

    assert ended(listener).arrived == arrived


def test_a_queue_is_full_for_its_own_class_alone() -> None:
    """Fifty of one class wait; the next of it is refused, and one of another is taken."""
    running = Running()
    for _ in range(50):
        running.submit(make_submission(terms=ClassTerms(name="batch")))
    with pytest.raises(QueueFullError, match="50 requests wait already"):
        running.submit(make_submission(terms=ClassTerms(name="batch")))

    running.submit(make_submission(terms=ClassTerms(name="interactive")))


def test_a_request_larger_than_what_is_not_kept_for_others_is_refused() -> None:
    """It could never run; for whom the pages are kept it could."""
    settings = SchedSettings(pages=8, page_size=8, page_reserves=(PageReserve(service_class="kept", share=0.5),))
    core = make_core(FakeEngine(), settings)
    large = make_submission(tuple(range(2, 42)), max_tokens=8)
    with pytest.raises(ContextLengthError):
        core.submit(large, RecordingListener())

    core.submit(replace(large, terms=ClassTerms(name="kept")), RecordingListener())
