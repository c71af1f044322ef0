"""Who runs in the next tick: in order, without starving anyone, never with a page too many."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sched.letters import letter
from unmask.plan import CanvasTask, Plan, Row, RowFailure, RowResult, Task
from unmask.sched.batcher import Batcher, Changes
from unmask.sched.settings import SchedSettings
from unmask.sequence import Sequence, Submission
from unmask.testing.fake_engine import FakeEngine, fill
from unmask.testing.manual_clock import ManualClock
from unmask.testing.sequences import make_sequence
from unmask.testing.submissions import make_submission
from unmask.types import ExitReason, Outcome

SETTINGS = SchedSettings(pages=64, page_size=8, prefill_tokens=16, prefix_cache=False)


class Ticking:
    """A batcher, a fake engine, and a clock that moves a second a tick."""

    def __init__(self, settings: SchedSettings = SETTINGS) -> None:
        self.clock = ManualClock()
        self.batcher = Batcher(settings, mask=0, end=1, token_bytes=letter, clock=self.clock)
        self.engine = FakeEngine()
        self.ended: list[Sequence] = []
        self._next = 0

    def add(self, submission: Submission) -> Sequence:
        """Let a request wait."""
        self._next += 1
        sequence = make_sequence(submission, id=self._next)
        self.batcher.add(sequence)
        return sequence

    def tick(self) -> Plan:
        """Schedule, run, update; return what ran."""
        changes = Changes()
        plan = self.batcher.schedule(changes)
        self.batcher.update(plan, self.engine.run(plan), changes)
        self.ended += changes.ended
        self.clock.advance(1.0)
        return plan

    def finish(self) -> None:
        """Tick until nothing is left."""
        while not self.batcher.is_idle:
            self.tick()


def prompt_of(length: int) -> tuple[int, ...]:
    """Return a prompt."""
    return tuple(range(2, 2 + length))


def denoising(plan: Plan) -> list[int]:
    """Return which sequences take a step."""
    return [row.sequence for row in plan.rows if isinstance(row.task, CanvasTask)]


def test_rows_of_all_kinds_share_a_batch() -> None:
    """A prompt's chunk and another's canvas run in one forward."""
    ticking = Ticking()
    ticking.add(make_submission(prompt_of(3), max_steps=5))
    ticking.tick()
    ticking.add(make_submission(prompt_of(40)))
    plan = ticking.tick()

    assert [(row.sequence, len(row.append), row.task is None) for row in plan.rows] == [(1, 0, False), (2, 16, True)]


def test_at_most_max_rows_run() -> None:
    """The others wait until one leaves, and the next joins in the tick after."""
    ticking = Ticking(replace(SETTINGS, max_rows=2))
    for steps in (1, 3, 2):
        ticking.add(make_submission(max_steps=steps))

    assert denoising(ticking.tick()) == [1, 2]
    assert denoising(ticking.tick()) == [2, 3]


def test_a_canvas_never_waits_for_prompts() -> None:
    """However many prompts are appended, an open canvas takes a step every tick."""
    ticking = Ticking()
    ticking.add(make_submission(prompt_of(2), max_steps=12))
    ticking.tick()
    for _ in range(6):
        ticking.add(make_submission(prompt_of(60)))
    for _ in range(11):
        assert 1 in denoising(ticking.tick())


def test_a_tick_appends_no_more_prompt_than_it_may() -> None:
    """Over all rows, prompts get the tick's room and no more."""
    ticking = Ticking()
    for length in (5, 40, 7, 16, 3):
        ticking.add(make_submission(prompt_of(length)))
    while not ticking.batcher.is_idle:
        plan = ticking.tick()
        assert sum(len(row.append) for row in plan.rows) <= SETTINGS.prefill_tokens


def test_a_commit_takes_no_room_from_prompts() -> None:
    """A finished canvas is appended beside a prompt that needs the tick's whole room."""
    ticking = Ticking()
    ticking.add(make_submission(prompt_of(2), max_tokens=16, max_steps=1))
    ticking.tick()
    ticking.add(make_submission(prompt_of(16)))

    assert [len(row.append) for row in ticking.tick().rows] == [8, 16]


@given(st.lists(st.integers(1, 60), min_size=1, max_size=6))
def test_no_prompt_starves(lengths: list[int]) -> None:
    """A prompt is done no later than if every one before it, and its own chunks, had their ticks alone."""
    ticking = Ticking()
    sequences = [ticking.add(make_submission(prompt_of(length), max_steps=1)) for length in lengths]
    ticking.finish()

    due = 0
    for sequence, length in zip(sequences, lengths, strict=True):
        due += -(-length // SETTINGS.prefill_tokens)
        assert sequence.finished is not None
        assert sequence.finished <= due - 1


def test_the_front_waits_and_nothing_overtakes_it() -> None:
    """A large request at the front keeps smaller ones behind it waiting, and runs once there is room."""
    ticking = Ticking(replace(SETTINGS, pages=6))
    first = ticking.add(make_submission(prompt_of(16), max_steps=3))
    large = ticking.add(make_submission(prompt_of(32), max_tokens=16))
    small = ticking.add(make_submission(prompt_of(2)))
    ticking.tick()
    assert (first.started, large.started, small.started) == (0.0, None, None)

    ticking.finish()
    assert large.started is not None
    assert first.finished is not None
    assert large.started >= first.finished
    assert small.started is not None
    assert small.started >= large.started
    assert {sequence.outcome for sequence in ticking.ended} == {Outcome.COMPLETED}


@pytest.mark.parametrize("ticks", range(8))
def test_an_abort_takes_one_tick_at_any_point_of_a_life(ticks: int) -> None:
    """Waiting, in its prompt, in a canvas or between two: the next tick lets go of it and of its pages."""
    ticking = Ticking(replace(SETTINGS, max_rows=1))
    aborted = ticking.add(make_submission(prompt_of(40), max_tokens=24, max_steps=2))
    for _ in range(ticks):
        ticking.tick()
    ticking.batcher.abort(aborted)
    plan = ticking.tick()

    assert plan.rows == ()
    assert ticking.ended == [aborted]
    assert (aborted.outcome, aborted.exit_reason, aborted.finished) == (Outcome.ABORTED, ExitReason.ABORTED, ticks)
    assert (ticking.batcher.pool.used, aborted.pages) == (0, [])


def test_a_failed_plan_ends_its_sequences_alone() -> None:
    """Those in the plan fail with the reason; those that wait are not touched."""
    ticking = Ticking(replace(SETTINGS, max_rows=2))
    for _ in range(3):
        ticking.add(make_submission())
    changes = Changes()
    plan = ticking.batcher.schedule(changes)
    ticking.batcher.fail(plan, "out of luck", changes)

    assert [(sequence.id, sequence.outcome, sequence.error) for sequence in changes.ended] == [
        (1, Outcome.FAILED, "out of luck"),
        (2, Outcome.FAILED, "out of luck"),
    ]
    assert ticking.batcher.pool.used == 0
    ticking.finish()
    assert [sequence.outcome for sequence in ticking.ended] == [Outcome.COMPLETED]


def test_a_plan_can_fail_after_some_of_it_has_ended() -> None:
    """A sequence that ended before the failure keeps its outcome."""
    ticking = Ticking()
    done, failed = ticking.add(make_submission(max_steps=1)), ticking.add(make_submission(max_steps=3))
    changes = Changes()
    plan = ticking.batcher.schedule(changes)
    ticking.batcher.update(plan, ticking.engine.run(plan), changes)
    ticking.batcher.fail(plan, "too late", changes)

    assert (done.outcome, failed.outcome) == (Outcome.COMPLETED, Outcome.FAILED)
    assert changes.ended == [done, failed]


def failing(number: int) -> FakeEngine:
    """Return an engine that fails the row of one sequence that has a task."""

    def script(row: Row, task: Task) -> RowResult:
        return RowFailure(error="no numbers") if row.sequence == number else fill(task, 9)

    return FakeEngine(script)


def test_a_failed_row_ends_its_own_sequence_alone() -> None:
    """It fails with its reason, having cost what it cost until then; the others of the plan go on."""
    ticking = Ticking()
    ticking.engine = failing(2)
    sequences = [ticking.add(make_submission(prompt_of(4), max_steps=2)) for _ in range(3)]
    ticking.finish()
    failed = sequences[1]

    assert [sequence.outcome for sequence in sequences] == [Outcome.COMPLETED, Outcome.FAILED, Outcome.COMPLETED]
    assert (failed.error, failed.exit_reason, failed.finish_reason) == ("no numbers", ExitReason.FAILED, None)
    assert (failed.steps, failed.prefill_tokens, failed.output, failed.finished) == (0, 0, [], 0.0)
    assert (ticking.batcher.pool.used, failed.pages) == (0, [])


def test_nobody_builds_upon_the_pages_of_a_failed_row() -> None:
    """What made a row fail may lie in its keys and values, so the same prompt is run anew."""
    ticking = Ticking(replace(SETTINGS, prefix_cache=True))
    ticking.engine = failing(1)
    first, second, third = (make_submission(prompt_of(40), max_steps=1) for _ in range(3))
    failed = ticking.add(first)
    ticking.finish()
    again = ticking.add(second)
    ticking.finish()
    later = ticking.add(third)
    ticking.finish()

    assert (failed.outcome, failed.prefill_tokens) == (Outcome.FAILED, 32)
    assert (again.outcome, again.cached_tokens) == (Outcome.COMPLETED, 0)
    assert later.cached_tokens == 40


def test_finished_pages_can_be_found_by_the_next_request() -> None:
    """With the prefix cache a conversation's second turn runs only what is new."""
    ticking = Ticking(replace(SETTINGS, prefix_cache=True))
    first = ticking.add(make_submission(prompt_of(16), max_tokens=24, max_steps=1))
    ticking.finish()
    turn = ticking.add(make_submission((*first.submission.prompt, *first.output, 5, 6), max_steps=1))
    ticking.finish()

    # The last canvas was never committed, as nothing came after it.
    assert (first.commit_tokens, turn.cached_tokens, turn.prefill_tokens) == (16, 32, 10)
