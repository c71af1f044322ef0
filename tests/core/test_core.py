"""The core: what it refuses, what listeners hear, and what one bad forward does."""

import logging
from collections.abc import Sequence as Items

import pytest
from torch import Tensor

from unmask.core.core import Core
from unmask.engine.engine import NOT_NUMBERS, Engine
from unmask.engine.runner import Runner
from unmask.errors import ContextLengthError, InvalidRequestError, QueueFullError
from unmask.plan import CanvasResult, CanvasTask, Row, RowResult, Task
from unmask.sched.settings import SchedSettings
from unmask.sequence import Sequence
from unmask.testing.cores import make_core, run_all
from unmask.testing.fake_engine import FakeEngine
from unmask.testing.listeners import RecordingListener
from unmask.testing.networks import TINY_ADAPTER, make_network
from unmask.testing.submissions import make_submission
from unmask.types import ExitReason, Mode, Outcome

SETTINGS = SchedSettings(pages=8, page_size=8, max_rows=4)


def finish(core: Core) -> None:
    """Tick until nothing is left."""
    while not core.is_idle:
        core.tick()


def test_listeners_hear_of_growth_and_end() -> None:
    """Each canvas is told once, the end once, in that order; steps only to those who asked."""
    core = make_core(FakeEngine(), SETTINGS)
    plain, watching = RecordingListener(), RecordingListener()
    core.submit(make_submission(max_tokens=16, max_steps=2), plain)
    core.submit(make_submission(max_tokens=16, max_steps=2, snapshots=True), watching)
    finish(core)

    assert plain.steps == []
    assert watching.steps == [1, 2, 3, 4]
    for listener in (plain, watching):
        assert listener.texts == [")" * 8, ")" * 16]
        assert [sequence.outcome for sequence in listener.endings] == [Outcome.COMPLETED]


def test_ids_are_never_used_twice() -> None:
    """Every submission has an id of its own."""
    core = make_core(FakeEngine(), SETTINGS)
    first = core.submit(make_submission(), RecordingListener())
    finish(core)

    assert core.submit(make_submission(), RecordingListener()) != first


def test_an_empty_prompt_is_refused() -> None:
    """Without a token there is nothing to attend to."""
    with pytest.raises(InvalidRequestError, match="at least one token"):
        make_core(FakeEngine(), SETTINGS).submit(make_submission(()), RecordingListener())


@pytest.mark.parametrize(
    ("prompt", "max_tokens", "mode", "limit"),
    [
        (40, 25, Mode.DIFFUSION, 64),
        (41, 17, Mode.DIFFUSION, 57),
        (70, 1, Mode.DIFFUSION, 64),
        (41, 24, Mode.AUTOREGRESSIVE, 64),
    ],
)
def test_what_can_never_fit_is_refused(prompt: int, max_tokens: int, mode: Mode, limit: int) -> None:
    """A request larger than all pages together would wait for ever; the error says how much fits, which then does."""
    core = make_core(FakeEngine(), SETTINGS)
    tokens = tuple(range(prompt))
    with pytest.raises(ContextLengthError) as caught:
        core.submit(make_submission(tokens, max_tokens=max_tokens, mode=mode), RecordingListener())

    assert caught.value.limit == limit
    assert core.is_idle
    if limit > prompt:
        (sequence,) = run_all(core, [make_submission(tokens, max_tokens=limit - prompt, mode=mode)])
        assert sequence.outcome is Outcome.COMPLETED


def test_a_full_queue_refuses() -> None:
    """One more than may wait is told to come back, and those that wait are not touched."""
    core = make_core(FakeEngine(), SETTINGS, queue_limit=1)
    listener = RecordingListener()
    core.submit(make_submission(), listener)
    with pytest.raises(QueueFullError, match="1 requests wait already"):
        core.submit(make_submission(), RecordingListener())
    finish(core)

    assert len(listener.endings) == 1
    core.submit(make_submission(), RecordingListener())


def test_aborting_what_has_ended_does_nothing() -> None:
    """An id that ended, or never was, is left alone."""
    core = make_core(FakeEngine(), SETTINGS)
    listener = RecordingListener()
    number = core.submit(make_submission(max_steps=1), listener)
    finish(core)
    core.abort(number)
    core.abort(12345)
    core.tick()

    assert [sequence.outcome for sequence in listener.endings] == [Outcome.COMPLETED]


def test_an_abort_before_the_first_tick() -> None:
    """A request that never ran is aborted with no page ever taken."""
    engine = FakeEngine()
    core = make_core(engine, SETTINGS)
    listener = RecordingListener()
    core.abort(core.submit(make_submission(), listener))
    core.tick()

    (sequence,) = listener.endings
    assert (sequence.outcome, sequence.started, sequence.exit_reason) == (Outcome.ABORTED, None, ExitReason.ABORTED)
    assert engine.plans == []


@pytest.mark.parametrize("error", [RuntimeError("no memory"), ArithmeticError("not numbers"), AssertionError("none")])
def test_a_failed_forward_ends_its_own_sequences(error: Exception, caplog: pytest.LogCaptureFixture) -> None:
    """Everyone in the plan fails with the reason, everyone else goes on, and later requests are served."""
    engine = FakeEngine(error=error)
    core = make_core(engine, SchedSettings(pages=8, page_size=8, max_rows=2))
    listeners = [RecordingListener() for _ in range(3)]
    for listener in listeners:
        core.submit(make_submission(), listener)
    with caplog.at_level(logging.CRITICAL):
        finish(core)

    outcomes = [sequence.outcome for listener in listeners for sequence in listener.endings]
    assert outcomes == [Outcome.FAILED, Outcome.FAILED, Outcome.COMPLETED]
    failed = listeners[0].endings[0]
    assert (failed.error, failed.exit_reason) == (f"{type(error).__name__}: {error}", ExitReason.FAILED)
    assert core.batcher.pool.used == 0


class Overflowing:
    """Runs rows on a network, and makes one sequence's logits no numbers from the second step of its canvas on."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._runner = Runner(make_network(), pages=SETTINGS.pages, page_size=SETTINGS.page_size)

    def forward(self, rows: Items[Row]) -> Tensor:
        """Run the rows."""
        logits = self._runner.forward(rows)
        first = 0
        for row in rows:
            count = len(row.task.asked) if isinstance(row.task, CanvasTask) else 0
            if row.sequence == self._number and isinstance(row.task, CanvasTask) and row.task.step > 0:
                logits[first + count - 1, 5] = float("nan")
            first += count
        return logits


def test_a_request_that_overflows_fails_alone(caplog: pytest.LogCaptureFixture) -> None:
    """Its error says why and the log tells; the requests beside it get what they get without it."""
    submissions = [make_submission((5, number), max_steps=3) for number in range(6, 9)]
    expected, broken = (
        run_all(make_core(Engine(Overflowing(number), TINY_ADAPTER), SETTINGS), submissions) for number in (0, 2)
    )

    assert [sequence.outcome for sequence in broken] == [Outcome.COMPLETED, Outcome.FAILED, Outcome.COMPLETED]
    assert (broken[1].error, broken[1].exit_reason, broken[1].steps) == (NOT_NUMBERS, ExitReason.FAILED, 1)
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    assert NOT_NUMBERS in caplog.text
    for served, alike in zip(broken[::2], expected[::2], strict=True):
        assert (served.output, served.steps, served.exit_reason) == (alike.output, alike.steps, alike.exit_reason)


def test_results_that_cannot_be_booked_fail_their_plan(caplog: pytest.LogCaptureFixture) -> None:
    """A result that does not belong to its row is a failure like any other."""

    def nonsense(_row: Row, task: Task) -> RowResult:
        return CanvasResult(tokens=(9,), finished=True, converged=True, state=None, record=None)

    core = make_core(FakeEngine(nonsense), SETTINGS)
    with caplog.at_level(logging.CRITICAL):
        (sequence,) = run_all(core, [make_submission(mode=Mode.AUTOREGRESSIVE)])

    assert sequence.outcome is Outcome.FAILED
    assert core.batcher.pool.used == 0


def test_failing_all_tells_everyone_once() -> None:
    """When the core stops for good, those that run and those that wait fail with the reason."""
    core = make_core(FakeEngine(), SchedSettings(pages=8, page_size=8, max_rows=1))
    listeners = [RecordingListener() for _ in range(3)]
    for listener, steps in zip(listeners, (1, 9, 9), strict=True):
        core.submit(make_submission(max_steps=steps), listener)
    core.tick()
    core.tick()
    core.fail_all("over")
    core.fail_all("again")

    ended = [sequence for listener in listeners for sequence in listener.endings]
    assert [(sequence.outcome, sequence.error) for sequence in ended] == [
        (Outcome.COMPLETED, None),
        (Outcome.FAILED, "over"),
        (Outcome.FAILED, "over"),
    ]


def test_failing_all_reaches_everyone(caplog: pytest.LogCaptureFixture) -> None:
    """A listener that cannot be told does not keep the next from hearing."""

    class Deaf(RecordingListener):
        def ended(self, sequence: Sequence) -> None:
            raise RuntimeError("cannot hear")

    core = make_core(FakeEngine(), SETTINGS)
    listener = RecordingListener()
    core.submit(make_submission(), Deaf())
    core.submit(make_submission(), listener)
    with caplog.at_level(logging.CRITICAL):
        core.fail_all("over")

    assert [sequence.outcome for sequence in listener.endings] == [Outcome.FAILED]


def test_many_requests_leave_nothing_behind() -> None:
    """After 2,000 requests, some aborted and some failed, no page, sequence or listener is held."""
    engine = FakeEngine()
    core = make_core(engine, SchedSettings(pages=16, page_size=8, max_rows=8))
    for wave in range(100):
        for number in range(20):
            prompt = tuple(range(2 + number % 3, 12 + number % 7))
            submission = make_submission(prompt, max_steps=2, tenant=str(number % 5))
            sequence_id = core.submit(submission, RecordingListener())
            if number % 9 == 4:
                core.abort(sequence_id)
        if wave % 25 == 7:
            engine.error = RuntimeError("now and then")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(logging.getLogger("unmask.core.core"), "disabled", True)
            finish(core)
        engine.plans.clear()

    batcher = core.batcher
    assert (batcher.pool.used, core._open, batcher.running, len(batcher.waiting)) == (0, {}, {}, 0)
    pool = batcher.pool
    assert len(pool._page_of) == len(pool._hash_of) == len(pool._kept) <= pool.count
    assert sum(pool._references) == 0
