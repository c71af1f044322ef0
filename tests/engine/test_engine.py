"""A tick of the engine: which positions are decided, when a canvas is finished, and what is recorded."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from unmask.engine import engine as engine_module
from unmask.engine.engine import NOT_NUMBERS, Engine
from unmask.engine.logprobs import fixed_tokens
from unmask.engine.signals import Ints, Needs, Signals
from unmask.engine.strategies.base import CanvasView, Strategy, Update
from unmask.plan import (
    CanvasResult,
    CanvasTask,
    DecodeTask,
    ExitOffer,
    Plan,
    Row,
    RowFailure,
    RowResult,
    Task,
    TokenResult,
)
from unmask.policy.exit_rule import MEASURED
from unmask.strategy import StrategyChoice, StrategyName
from unmask.testing.canvas_tasks import make_canvas_task
from unmask.testing.exits import make_rule
from unmask.testing.fake_runner import FakeRunner, logits_for
from unmask.testing.learned import make_choice
from unmask.testing.networks import TINY_ADAPTER
from unmask.types import ExitRule, FixedToken, ProgressSignal, Sampling

MASK, END = TINY_ADAPTER.mask, TINY_ADAPTER.end
VOCABULARY = 16


def row_of(task: Task | None, *, append: tuple[int, ...] = ()) -> Row:
    """Return a row; a fake runner looks at nothing else of it."""
    return Row(sequence=1, start=0, append=append, pages=(0,), task=task)


def run(logits: Tensor, *tasks: Task | None) -> tuple[RowResult, ...]:
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


def test_a_window_holds_the_leftmost_candidates() -> None:
    """The surest position lies outside the window, so the surest inside it is revealed."""
    task = make_canvas_task([7, MASK, MASK, MASK, MASK], strategy=StrategyChoice(window=2))
    result = denoise(task, [5, 5, 6, 7, 8], [0.0, 1.0, 2.0, 3.0, 9.0])

    assert result.tokens == (7, MASK, 6, MASK, MASK)


def test_a_quota_larger_than_the_window_is_kept() -> None:
    """A budget too small for the window reveals its quota all the same, so that it is spent evenly."""
    task = make_canvas_task([MASK] * 6, steps_left=2, strategy=StrategyChoice(window=1))
    result = denoise(task, [5, 6, 7, 8, 9, 4], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0])

    assert result.tokens == (5, 6, 7, MASK, MASK, MASK)


@pytest.mark.parametrize("strategy", StrategyName)
def test_every_strategy_keeps_to_its_window(strategy: StrategyName) -> None:
    """Whatever a strategy reveals lies among the leftmost candidates that the window holds."""
    choice = replace(make_choice(strategy, 0.0), window=3)
    result = denoise(make_canvas_task([MASK] * 8, steps_left=8, strategy=choice), [5] * 8, [4.0] * 8)

    assert result.tokens[3:] == (MASK,) * 5
    assert result.tokens[:3] != (MASK,) * 3


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
    task = make_canvas_task([MASK] * 5, steps_left=1, strategy=make_choice(strategy, 0.99))
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
    task = make_canvas_task([MASK, MASK, MASK, 9], trace=True, index=1, step=2)
    result = denoise(task, [5, 6, END, 7], [0.0, 2.0, 1.0, 3.0])

    assert result.record is not None
    assert (result.record.canvas, result.record.step, result.record.max_steps) == (1, 2, 6)
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


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_logits_that_are_no_numbers_fail_their_row_alone(bad: float) -> None:
    """A row that overflows anywhere says so; the others get what they get without it."""
    says = logits_for([5, 6, 7, 8], [2.0, 1.0, 2.0, 1.0], VOCABULARY)
    broken = logits_for([5, 6], [2.0, 2.0], VOCABULARY)
    broken[1, 3] = bad
    first, second = make_canvas_task([MASK] * 2, steps_left=2), make_canvas_task([MASK] * 2, steps_left=3)
    results = run(torch.cat((says[:2], broken, says[2:])), first, make_canvas_task([MASK] * 2), second)

    assert results == (run(says[:2], first)[0], RowFailure(error=NOT_NUMBERS), run(says[2:], second)[0])


def test_a_decoded_token_fails_like_a_canvas() -> None:
    """An autoregressive row has one place that may overflow."""
    logits = torch.full((1, VOCABULARY), float("nan"))

    assert run(logits, DecodeTask(index=0, sampling=Sampling())) == (RowFailure(error=NOT_NUMBERS),)


def scored(result: CanvasResult) -> list[int | None]:
    """Return the tokens that have a log-probability, by position."""
    return [None if fixed is None else fixed.chosen.token for fixed in result.logprobs]


def test_what_a_step_fixes_has_its_log_probability() -> None:
    """Of the network's distribution over what may be drawn; positions left open, or fixed before, have none."""
    logits = logits_for([5, 6, 7, 8], [1.0, 3.0, 2.0, 0.0], VOCABULARY)
    task = make_canvas_task([MASK, MASK, 9, MASK], step=1, top_logprobs=2)
    (result,) = run(logits, task)
    assert isinstance(result, CanvasResult)
    assert result.tokens == (MASK, 6, 9, MASK)
    assert scored(result) == [None, 6, None, None]
    logits[:, MASK] = -float("inf")
    expected = logits.log_softmax(-1)[1]
    fixed = result.logprobs[1]
    assert fixed is not None
    assert fixed.chosen.logprob == pytest.approx(float(expected[6]), abs=1e-6)
    assert fixed.top[0] == fixed.chosen
    assert fixed.top[1].token == END


def test_what_a_draft_gives_is_scored_by_the_first_step() -> None:
    """It stands from that step on; later ones say nothing of it."""
    first = denoise(make_canvas_task([9, MASK, 8, MASK], top_logprobs=0), [5, 6, 7, 8])
    later = denoise(make_canvas_task([9, MASK, 8, MASK], step=1, steps_left=3, top_logprobs=0), [5, 6, 7, 8])

    assert scored(first) == [9, 6, 8, None]
    assert scored(later) == [None, 6, None, None]


def test_the_step_that_fills_a_canvas_scores_the_rest() -> None:
    """Up to the end token; what is behind it, or past the limit, never becomes output."""
    filled = denoise(make_canvas_task([MASK] * 5, steps_left=1, step=3, limit=4, top_logprobs=0), [5, 6, 7, 8, 9])
    ended = denoise(make_canvas_task([MASK] * 4, steps_left=1, step=3, top_logprobs=0), [5, END, 7, 8])

    assert scored(filled) == [5, 6, 7, 8, None]
    assert scored(ended) == [5, END, None, None]


def test_only_what_was_asked_for_is_looked_at() -> None:
    """Logits come for open positions alone after the first step, and each is taken for its own position."""
    task = make_canvas_task([9, MASK, 8, MASK], asked=(1, 3), step=1, steps_left=1, top_logprobs=0)

    assert scored(denoise(task, [6, 7])) == [None, 6, None, 7]


def test_a_drawn_token_is_scored_undisturbed() -> None:
    """Temperature and top-p change what is drawn, not how likely the network finds it."""
    logits = logits_for([5], [0.0], VOCABULARY)
    sampling = Sampling(temperature=2.0, top_p=0.9, seed=1)
    tasks = [DecodeTask(index=index, sampling=sampling, top_logprobs=1) for index in range(40)]
    results = run(logits.repeat(40, 1), *tasks)
    logits[:, MASK] = -float("inf")
    expected = logits.log_softmax(-1)[0]

    drawn = [result.logprobs for result in results if isinstance(result, TokenResult) and result.logprobs is not None]
    assert len({fixed.chosen.token for fixed in drawn}) > 1
    for fixed in drawn:
        assert fixed.chosen.logprob == pytest.approx(float(expected[fixed.chosen.token]), abs=1e-6)
        assert fixed.top[0].token == 5


def test_who_asks_for_no_log_probabilities_pays_for_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside a row that asks, nothing is computed for the rows that do not."""
    seen: list[int] = []

    def counted(logits: Tensor, tokens: Ints, count: int) -> list[FixedToken]:
        seen.append(len(tokens))
        return fixed_tokens(logits, tokens, count)

    monkeypatch.setattr(engine_module, "fixed_tokens", counted)
    plain, decode = make_canvas_task([MASK] * 4, steps_left=1), DecodeTask(index=0, sampling=Sampling())
    logits = logits_for([5, 6, 7, 8, 9], [2.0] * 5, VOCABULARY)
    without = run(logits, plain, decode)
    assert seen == []
    results = run(
        torch.cat((logits, logits[:2])), plain, decode, make_canvas_task([MASK] * 2, steps_left=2, top_logprobs=5)
    )

    assert results[:2] == without
    assert seen == [1]


def judged(tokens: list[int], rule: ExitRule | None = None, **changes: Any) -> CanvasTask:  # noqa: ANN401 - any field
    """Return a step of a canvas that an exit rule looks at."""
    rule = rule or make_rule(flips=1.0, confidence=0.4)
    return make_canvas_task(tokens, exit=rule, signals=rule.signals, **changes)


def test_a_step_that_meets_its_rule_offers_the_closed_draft() -> None:
    """The canvas itself goes on as without a rule; whoever owns the request decides."""
    first = denoise(judged([MASK] * 5), [5, 6, 7, END, 8])
    second = denoise(judged(list(first.tokens), earlier=first.earlier, step=1, steps_left=3), [5, 6, 7, END, 8])

    assert first.offer is None
    assert second.tokens == denoise(make_canvas_task(first.tokens, step=1, steps_left=3), [5, 6, 7, END, 8]).tokens
    assert (second.finished, second.offer) == (False, ExitOffer(tokens=(5, 6, 7, END, END)))
    assert second.progress is not None
    assert second.progress.filled == 2


def test_signals_are_over_what_the_step_leaves_open() -> None:
    """What the step itself reveals is no part of what an exit would fill, nor is what it reopens."""
    task = judged(
        [5, MASK, MASK, MASK],
        strategy=StrategyChoice(name=StrategyName.REMASK, threshold=2.0),
        steps_left=3,
    )
    result = denoise(task, [9, 6, 7, 8], [0.0, 3.0, 2.0, 1.0])

    assert result.tokens == (MASK, 6, MASK, MASK)
    assert result.progress is not None
    assert result.progress.filled == 2
    # The mask is none of the tokens that share the rest.
    odds = np.e * (VOCABULARY - 1) / (VOCABULARY - 2)
    assert result.progress[ProgressSignal.CONFIDENCE_MIN] == pytest.approx(odds / (1 + odds), abs=1e-3)


def test_an_exit_gives_reopened_positions_their_tokens_back() -> None:
    """They were decided before this step, and the draft still has them."""
    strategy = StrategyChoice(name=StrategyName.REMASK, threshold=2.0)
    first = denoise(judged([MASK] * 6, strategy=strategy), [5, 6, 7, 8, 9, 10], [6.0, 5.0, 4.0, 3.0, 2.0, 1.0])
    task = judged(list(first.tokens), strategy=strategy, state=first.state, earlier=first.earlier, step=1, steps_left=3)
    second = denoise(task, [11] * 2 + [7, 8, 9, 10], [0.0] * 2 + [4.0, 3.0, 2.0, 1.0])

    assert first.tokens == (5, 6, MASK, MASK, MASK, MASK)
    assert MASK in second.tokens[:2]
    assert second.offer == ExitOffer(tokens=(5, 6, 7, 8, 9, 10))


@pytest.mark.parametrize("steps_left", [1, 3])
def test_a_canvas_that_is_finished_offers_nothing(steps_left: int) -> None:
    """Converged or out of steps, it has nothing left to save."""
    earlier = denoise(judged([MASK] * 2), [5, 6]).earlier
    done = denoise(
        judged([5, MASK], strategy=StrategyChoice(threshold=0.0), earlier=earlier, step=1, steps_left=steps_left),
        [5, 6],
    )

    assert (done.finished, done.offer, done.earlier) == (True, None, None)
    assert done.progress is not None
    assert done.progress.filled == 0


def test_an_offer_scores_what_it_fills() -> None:
    """By the step's own distribution, up to the end token."""
    first = denoise(judged([MASK] * 5), [5, 6, 7, END, 8])
    task = judged(list(first.tokens), earlier=first.earlier, step=1, steps_left=3, top_logprobs=0)
    second = denoise(task, [5, 6, 7, END, 8])
    filled = denoise(make_canvas_task(first.tokens, step=1, steps_left=1, top_logprobs=0), [5, 6, 7, END, 8])

    assert second.offer is not None
    assert second.offer.logprobs == filled.logprobs
    assert scored(second) != scored(filled)


def test_signals_change_nothing_but_what_is_told() -> None:
    """Tokens, state and record are those of a canvas nobody measures."""
    for name in StrategyName:
        task = make_canvas_task([MASK] * 6, strategy=make_choice(name), trace=True)
        plain = denoise(task, [5, 6, 7, 8, END, 9], [3.0, 1.0, 2.0, 0.5, 1.0, 2.0])
        measured = denoise(
            make_canvas_task([MASK] * 6, strategy=make_choice(name), trace=True, signals=frozenset(MEASURED)),
            [5, 6, 7, 8, END, 9],
            [3.0, 1.0, 2.0, 0.5, 1.0, 2.0],
        )
        assert (measured.tokens, measured.record, measured.finished) == (plain.tokens, plain.record, plain.finished)
        assert plain.progress is None


def test_other_end_tokens_end_a_canvas_too() -> None:
    """With any of the end tokens fixed, nothing behind it is waited for, and the first of them fills the rest."""
    other = 5
    adapter = replace(TINY_ADAPTER, other_ends=(other,))
    task = make_canvas_task([7, other, MASK, MASK], steps_left=3)
    logits = logits_for([8, 9, 8, 9], [2.0] * 4, VOCABULARY)
    (result,) = Engine(FakeRunner(logits), adapter).run(Plan(rows=(row_of(task),)))

    assert isinstance(result, CanvasResult)
    assert (result.converged, result.tokens) == (True, (7, other, END, END))
