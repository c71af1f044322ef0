"""A tick of the engine: which positions are decided, when a canvas is finished, and what is recorded."""

import numpy as np
import pytest
import torch
from torch import Tensor

from unmask.engine.engine import Engine
from unmask.engine.signals import Needs, Signals
from unmask.engine.strategies.base import CanvasView, Strategy, Update
from unmask.plan import CanvasResult, CanvasTask, DecodeTask, Plan, Row, RowResult, TokenResult
from unmask.testing.canvas_tasks import make_canvas_task
from unmask.testing.fake_runner import FakeRunner, logits_for
from unmask.testing.networks import TINY_ADAPTER
from unmask.types import Sampling, StrategyChoice, StrategyName

MASK, END = TINY_ADAPTER.mask, TINY_ADAPTER.end
VOCABULARY = 16


def row_of(task: CanvasTask | DecodeTask | None, *, append: tuple[int, ...] = ()) -> Row:
    """Return a row; a fake runner looks at nothing else of it."""
    return Row(sequence=1, start=0, append=append, pages=(0,), task=task)


def run(logits: Tensor, *tasks: CanvasTask | DecodeTask | None) -> tuple[RowResult, ...]:
    """Run one plan."""
    engine = Engine(FakeRunner(logits), TINY_ADAPTER)
    return engine.run(Plan(rows=tuple(row_of(task) for task in tasks)))


def denoise(task: CanvasTask, says: list[int], odds: list[float] | None = None) -> CanvasResult:
    """Run one step of a canvas whose network says ``says``."""
    (result,) = run(logits_for(says, odds or [2.0] * len(says), VOCABULARY), task)
    assert isinstance(result, CanvasResult)
    return result


def test_a_step_reveals_what_its_strategy_chooses() -> None:
    """The quota's surest positions take the drawn tokens, the others stay open."""
    result = denoise(make_canvas_task([MASK] * 4), [5, 6, 7, 8], [1.0, 3.0, 2.0, 0.0])

    assert result.tokens == (MASK, 6, MASK, MASK)
    assert (result.finished, result.converged) == (False, False)


def test_the_quota_stops_at_the_drafts_end() -> None:
    """Eight positions of which the draft ends at the second need a quota of one, taken from those two."""
    result = denoise(make_canvas_task([MASK] * 8, steps_left=2), [5, END] + [6] * 6, [0.0, 1.0] + [5.0] * 6)

    assert result.tokens == (MASK, END) + (MASK,) * 6
    assert not result.finished


def test_a_canvas_has_converged_at_its_first_fixed_end() -> None:
    """With no mask before a fixed end token the canvas is finished, and its tail is filled with end tokens."""
    result = denoise(make_canvas_task([MASK, END, MASK, 9], steps_left=3), [5, 5, 5, 5])

    assert result.tokens == (5, END, END, END)
    assert (result.finished, result.converged) == (True, True)


def test_an_end_in_the_draft_alone_is_not_fixed() -> None:
    """A canvas whose draft ends early goes on until that end is decided."""
    result = denoise(make_canvas_task([MASK, MASK, MASK], steps_left=3), [5, END, 7], [2.0, 1.0, 3.0])

    assert result.tokens == (5, MASK, MASK)
    assert not result.finished


def test_without_an_end_everything_within_the_limit_counts() -> None:
    """Positions past the limit are neither revealed nor waited for, and are filled all the same."""
    task = make_canvas_task([MASK] * 6, limit=2, steps_left=2, strategy=StrategyChoice(threshold=0.1))
    result = denoise(task, [5, 6, 7, 8, 9, 10])

    assert result.tokens == (5, 6, 7, 8, 9, 10)
    assert (result.finished, result.converged) == (True, True)


def test_an_end_past_the_limit_does_not_count() -> None:
    """Only an end token that may become output ends a canvas."""
    result = denoise(make_canvas_task([MASK, MASK, END], limit=2), [5, 6, 7])

    assert not result.finished


@pytest.mark.parametrize("strategy", StrategyName)
def test_the_last_step_fills_everything(strategy: StrategyName) -> None:
    """Whatever the strategy, nothing is open after the last step, and that is no convergence."""
    task = make_canvas_task([MASK] * 5, steps_left=1, strategy=StrategyChoice(name=strategy, threshold=0.99))
    result = denoise(task, [5, 6, 7, 8, 9], [0.0] * 5)

    assert result.tokens == (5, 6, 7, 8, 9)
    assert (result.finished, result.converged) == (True, False)


def test_the_last_step_closes_the_text() -> None:
    """An end token drawn in the last step ends the text there, whatever was revealed behind it."""
    result = denoise(make_canvas_task([MASK, MASK, 7, MASK], steps_left=1), [5, END, 5, 8])

    assert result.tokens == (5, END, END, END)


@pytest.mark.parametrize("steps_left", [1, 4])
@pytest.mark.parametrize("tokens", [[5, END, MASK, MASK], [5, 6, 7, 8]], ids=["ended", "complete"])
def test_a_draft_may_have_converged_before_any_step(tokens: list[int], steps_left: int) -> None:
    """A canvas that starts with nothing left to decide is finished by its first step, unchanged."""
    result = denoise(make_canvas_task(tokens, steps_left=steps_left), [9, 9, 9, 9])

    assert result.tokens == (tuple(tokens) if MASK not in tokens else (5, END, END, END))
    assert (result.finished, result.converged) == (True, True)


def test_frozen_positions_stay_whatever_the_strategy_reopens() -> None:
    """Of two fixed positions remasking may take back, the frozen one stays."""
    task = make_canvas_task(
        [5, 6, MASK, MASK],
        frozen=frozenset({0}),
        strategy=StrategyChoice(name=StrategyName.REMASK, threshold=2.0),
    )
    result = denoise(task, [7, 7, 8, 8], [0.0, 0.0, 2.0, 1.0])

    assert result.tokens == (5, MASK, 8, MASK)


class Everything:
    """A strategy that asks for all there is: every position revealed, every position reopened."""

    needs = Needs()

    def __init__(self, *, reveals: bool = True) -> None:
        self.reveals = reveals

    def step(self, canvas: CanvasView, signals: Signals, state: object) -> Update:
        """Mark all positions."""
        everything = np.ones_like(canvas.open)
        return Update(revealed=everything if self.reveals else ~everything, reopened=everything)


def choosing(strategy: Strategy, task: CanvasTask, says: list[int]) -> CanvasResult:
    """Run one step of a canvas by a strategy of the test's own."""
    engine = Engine(FakeRunner(logits_for(says, [2.0] * len(says), VOCABULARY)), TINY_ADAPTER)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "_strategy", lambda _: strategy)
        (result,) = engine.run(Plan(rows=(row_of(task),)))
    assert isinstance(result, CanvasResult)
    return result


def test_a_strategy_can_do_no_more_than_it_may() -> None:
    """Only candidates are revealed; only what was fixed before and is not frozen is reopened."""
    task = make_canvas_task([5, 6, MASK, MASK, MASK], frozen=frozenset({0}))
    result = choosing(Everything(), task, [9, 9, 7, END, 8])

    assert result.tokens == (5, MASK, 7, END, MASK)


def test_a_strategy_that_reveals_nothing_is_a_mistake() -> None:
    """A step without progress would go on for ever, so it is an error at once."""
    with pytest.raises(AssertionError, match="at least one candidate"):
        choosing(Everything(reveals=False), make_canvas_task([MASK] * 2), [5, 6])


def test_reopened_positions_keep_a_canvas_going() -> None:
    """A step that decides the rest and reopens one position has not converged."""
    task = make_canvas_task([5, MASK], strategy=StrategyChoice(name=StrategyName.REMASK, threshold=2.0), steps_left=2)
    result = denoise(task, [7, 8])

    assert result.tokens == (MASK, 8)
    assert not result.finished


def test_forbidden_tokens_are_never_drawn() -> None:
    """The mask is not a token to draw, however likely the network finds it."""
    logits = logits_for([MASK] * 3, [9.0] * 3, VOCABULARY)
    logits[:, 7] = 1.0
    (result,) = run(logits, make_canvas_task([MASK] * 3, steps_left=1))

    assert isinstance(result, CanvasResult)
    assert result.tokens == (7, 7, 7)


def test_every_row_gets_its_own_result() -> None:
    """Results come in the order of rows: nothing for a row that only appends."""
    logits = torch.cat((logits_for([5, 6], [2.0, 2.0], VOCABULARY), logits_for([9], [2.0], VOCABULARY)))
    results = run(
        logits, None, make_canvas_task([MASK] * 2, steps_left=1), DecodeTask(index=0, sampling=Sampling()), None
    )

    assert results[0] is None
    assert isinstance(results[1], CanvasResult)
    assert results[1].tokens == (5, 6)
    assert results[2] == TokenResult(token=9)
    assert results[3] is None


def test_a_plan_that_only_appends_has_no_results() -> None:
    """Rows without a task give nothing."""
    assert run(torch.empty(0, VOCABULARY), None, None) == (None, None)


def test_idle_rows_are_computed_and_ignored() -> None:
    """Lockstep's idle rows come last in the forward and change no result."""
    task = make_canvas_task([MASK] * 2, steps_left=1)
    runner = FakeRunner(logits_for([5, 6, 7, 8], [2.0] * 4, VOCABULARY))
    (result,) = Engine(runner, TINY_ADAPTER).run(Plan(rows=(row_of(task),), idle=(row_of(task, append=(3,)),)))

    assert isinstance(result, CanvasResult)
    assert result.tokens == (5, 6)
    assert [row.append for row in runner.rows[0]] == [(), (3,)]


def test_state_travels_with_the_canvas() -> None:
    """What a strategy remembers comes back with the result and goes in with the next step."""
    task = make_canvas_task([MASK] * 4, strategy=StrategyChoice(name=StrategyName.KLASS, threshold=0.5))
    first = denoise(task, [5, 6, 7, 8])
    following = make_canvas_task(first.tokens, strategy=task.strategy, state=first.state, step=1, steps_left=3)
    second = denoise(following, [5, 6, 7, 8])

    assert first.tokens == (5, MASK, MASK, MASK)
    assert second.tokens == (5, 6, 7, 8)


def test_a_trace_shows_the_canvas_as_if_the_step_were_its_last() -> None:
    """The record holds the closed draft, what is decided, and the network's probabilities and entropies."""
    result = denoise(make_canvas_task([MASK, MASK, MASK, 9], trace=True), [5, 6, END, 7], [0.0, 2.0, 1.0, 3.0])

    assert result.record is not None
    assert result.record.draft == (5, 6, END, END)
    assert result.record.fixed == (False, True, False, True)
    assert result.record.confidence == pytest.approx((0.5, 0.8808, 0.7311, 0.9526), abs=0.03)
    assert len(result.record.entropy) == 4
    assert result.tokens == (MASK, 6, MASK, 9)


def test_the_trace_of_a_finished_canvas_is_its_tokens() -> None:
    """After the last step everything is decided."""
    result = denoise(make_canvas_task([MASK, MASK, MASK], trace=True, steps_left=1), [5, END, 6])

    assert result.record is not None
    assert result.record.draft == result.tokens == (5, END, END)
    assert result.record.fixed == (True, True, True)


def test_nothing_is_recorded_unless_asked_for() -> None:
    """Recording costs an entropy over the vocabulary, so it is off by default."""
    assert denoise(make_canvas_task([MASK] * 2), [5, 6]).record is None
