"""The engine thread: commands between ticks, and nobody left waiting when it ends."""

import logging
import threading
from collections.abc import Iterator

import pytest

from unmask.core.core import Core
from unmask.core.errors import EngineStoppedError
from unmask.core.thread import Command, EngineThread
from unmask.errors import RetryLaterError
from unmask.sched.settings import SchedSettings
from unmask.sequence import Sequence
from unmask.testing.cores import make_core
from unmask.testing.fake_engine import FakeEngine
from unmask.testing.listeners import RecordingListener
from unmask.testing.submissions import make_submission
from unmask.types import Outcome

SETTINGS = SchedSettings(pages=64, page_size=8)
PATIENCE_S = 30.0


class Waiter(RecordingListener):
    """A listener one can wait for."""

    def __init__(self) -> None:
        super().__init__()
        self.done = threading.Event()

    def ended(self, sequence: Sequence) -> None:
        """Keep the sequence and wake who waits."""
        self.endings.append(sequence)
        self.done.set()

    def outcome(self) -> Outcome | None:
        """Wait for the end and return the outcome."""
        assert self.done.wait(PATIENCE_S), "every sequence ends"
        return self.endings[0].outcome


@pytest.fixture(name="engine")
def _engine() -> FakeEngine:
    return FakeEngine()


@pytest.fixture(name="thread")
def _thread(engine: FakeEngine, caplog: pytest.LogCaptureFixture) -> Iterator[EngineThread]:
    caplog.set_level(logging.CRITICAL)
    thread = EngineThread(make_core(engine, SETTINGS))
    thread.start()
    yield thread
    thread.stop()


def submission_to(waiter: Waiter, max_steps: int) -> Command:
    """Return the command that submits a request."""

    def command(core: Core) -> None:
        core.submit(make_submission(max_steps=max_steps), waiter)

    return command


def submit(thread: EngineThread, *, max_steps: int = 4) -> Waiter:
    """Post a submission."""
    waiter = Waiter()
    thread.post(submission_to(waiter, max_steps))
    return waiter


def test_it_runs_what_is_submitted(thread: EngineThread) -> None:
    """Submissions are run to their end, also after a while with nothing to do."""
    assert submit(thread).outcome() is Outcome.COMPLETED
    assert submit(thread).outcome() is Outcome.COMPLETED
    assert thread.is_alive


def test_commands_run_in_order_between_ticks(thread: EngineThread) -> None:
    """An abort posted after its submission finds it, and takes effect before it ends by itself."""
    waiter = Waiter()
    ids: list[int] = []
    thread.post(lambda core: ids.append(core.submit(make_submission(max_steps=10**9), waiter)))
    thread.post(lambda core: core.abort(ids[0]))

    assert waiter.outcome() is Outcome.ABORTED


def test_a_failed_forward_leaves_it_running(thread: EngineThread, engine: FakeEngine) -> None:
    """The thread outlives an exception in a forward."""
    engine.error = RuntimeError("no memory")

    assert submit(thread).outcome() is Outcome.FAILED
    assert submit(thread).outcome() is Outcome.COMPLETED
    assert thread.is_alive


def test_stopping_ends_what_still_runs(thread: EngineThread) -> None:
    """Whoever waits is told; afterwards nothing is taken, and stopping again does no harm."""
    waiter = submit(thread, max_steps=10**9)
    thread.stop()

    assert waiter.outcome() is Outcome.FAILED
    assert waiter.endings[0].error == "the engine was stopped"
    assert not thread.is_alive
    with pytest.raises(EngineStoppedError, match="the engine has stopped"):
        submit(thread)
    thread.stop()


def test_a_thread_that_dies_leaves_nobody_waiting(thread: EngineThread, engine: FakeEngine) -> None:
    """What runs fails with the reason, what was posted meanwhile too, and what comes later is refused."""
    running = submit(thread, max_steps=10**9)
    posted = Waiter()

    def die(_core: Core) -> None:
        # Posted from within, so that it is certainly still in the line when the thread dies.
        thread.post(submission_to(posted, 4))
        raise SystemExit("broken")

    thread.post(die)

    assert running.outcome() is Outcome.FAILED
    assert posted.outcome() is Outcome.FAILED
    assert running.endings[0].error == "the engine has stopped: SystemExit: broken"
    assert not thread.is_alive
    with pytest.raises(RetryLaterError):
        submit(thread)


def test_an_error_no_forward_should_raise_kills_it_visibly(thread: EngineThread, engine: FakeEngine) -> None:
    """What is no ordinary exception ends the thread, and everyone hears of it."""
    engine.error = KeyboardInterrupt("out of band")
    waiter = submit(thread)

    assert waiter.outcome() is Outcome.FAILED
    assert not thread.is_alive
