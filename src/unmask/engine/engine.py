"""One tick of the engine: forward, signals, strategies."""

from functools import lru_cache, reduce
from typing import assert_never

import numpy as np
import torch
from torch import Tensor

from unmask.engine.adapter import Adapter
from unmask.engine.logprobs import fixed_tokens
from unmask.engine.runner import RowRunner
from unmask.engine.signals import INFINITY, Draw, Flags, Ints, Needs, Signals, observe, spread
from unmask.engine.strategies.base import CanvasView
from unmask.engine.strategies.registry import make_strategy
from unmask.plan import CanvasResult, CanvasTask, DecodeTask, Plan, RowFailure, RowResult, TokenResult
from unmask.types import FixedToken, StepTrace

TRACED = Needs(entropy=True)
DECODING = -1
NOT_NUMBERS = "the network's logits for this request are not numbers"


class Engine:
    """Runs plans. Holds weights and KV pages and nothing about requests."""

    def __init__(self, runner: RowRunner, adapter: Adapter) -> None:
        self.runner = runner
        self.adapter = adapter
        self._strategy = lru_cache(maxsize=64)(make_strategy)

    @torch.inference_mode()
    def run(self, plan: Plan) -> tuple[RowResult, ...]:
        """Run one forward and let each row's strategy act on it; one result per row of the plan."""
        logits = self.runner.forward(plan.rows + plan.idle)
        tasks = [row.task for row in plan.rows if row.task is not None]
        if not tasks:
            return (None,) * len(plan.rows)
        draws = [_draw(task) for task in tasks]
        logits = logits[: sum(draw.length for draw in draws)]
        logits[:, self.adapter.forbidden] = -INFINITY
        signals = observe(logits, draws, self._needs(tasks))
        parts = logits.split([draw.length for draw in draws])
        results = map(self._apply, tasks, signals, parts)
        return tuple(None if row.task is None else next(results) for row in plan.rows)

    def _needs(self, tasks: list[CanvasTask | DecodeTask]) -> Needs:
        canvases = [task for task in tasks if isinstance(task, CanvasTask)]
        wanted = [self._strategy(task.strategy).needs for task in canvases]
        wanted += [TRACED for task in canvases if task.trace]
        return reduce(Needs.__or__, wanted, Needs())

    def _apply(self, task: CanvasTask | DecodeTask, signals: Signals | None, logits: Tensor) -> RowResult:
        """Let a row act on its signals; ``logits`` are the row's own, ``[asked, vocabulary]``."""
        if signals is None:
            return RowFailure(error=NOT_NUMBERS)
        match task:
            case DecodeTask():
                return _decoded(task, signals, logits)
            case CanvasTask():
                return self._denoise(task, signals, logits)
            case _:
                assert_never(task)

    def _denoise(self, task: CanvasTask, signals: Signals, logits: Tensor) -> CanvasResult:
        before = np.array(task.tokens, dtype=np.int64)
        signals = spread(signals, task.asked, before)
        draft = np.where(before == self.adapter.mask, signals.tokens, before)
        after, state = before, task.state
        last = task.steps_left == 1
        # A draft that a request starts from may have converged already.
        if not last and not self._converged(before, task.limit):
            after, state = self._stepped(task, self._view(task, before, draft), signals)
        converged = self._converged(after, task.limit)
        draft = self._closed(draft)
        if converged or last:
            after = draft
        return CanvasResult(
            tokens=tuple(after.tolist()),
            finished=converged or last,
            converged=converged,
            state=state,
            record=_record(task, draft, after != self.adapter.mask, signals) if task.trace else None,
            logprobs=() if task.top_logprobs is None else self._logprobs(task, after, logits, task.top_logprobs),
        )

    def _logprobs(self, task: CanvasTask, after: Ints, logits: Tensor, count: int) -> tuple[FixedToken | None, ...]:
        """Score what the step has fixed and may become output; what a draft gave stands from the first step on."""
        asked = np.array(task.asked, dtype=np.int64)
        was_open = np.array(task.tokens, dtype=np.int64)[asked] == self.adapter.mask
        is_open = after[asked] == self.adapter.mask
        # Behind the end of a finished canvas is nothing that becomes output.
        until = task.limit if (after == self.adapter.mask).any() else self._horizon(after, task.limit)
        rows = np.flatnonzero((was_open | (task.step == 0)) & ~is_open & (asked < until))
        found = fixed_tokens(logits[torch.from_numpy(rows)], after[asked[rows]], count)
        scored: list[FixedToken | None] = [None] * len(after)
        for place, token in zip(asked[rows].tolist(), found, strict=True):
            scored[place] = token
        return tuple(scored)

    def _stepped(self, task: CanvasTask, view: CanvasView, signals: Signals) -> tuple[Ints, object]:
        """Let the strategy reveal and reopen positions."""
        update = self._strategy(task.strategy).step(view, signals, task.state)
        revealed = update.revealed & view.candidates
        assert revealed.any(), "a strategy reveals at least one candidate a step"
        after = np.where(revealed, signals.tokens, view.tokens)
        if update.reopened is not None:
            after[update.reopened & ~view.frozen & ~view.open] = self.adapter.mask
        return after, update.state

    def _view(self, task: CanvasTask, before: Ints, draft: Ints) -> CanvasView:
        is_open = before == self.adapter.mask
        places = np.arange(len(before))
        return CanvasView(
            tokens=before,
            open=is_open,
            candidates=is_open & (places < self._horizon(draft, task.limit)),
            frozen=np.isin(places, list(task.frozen)),
            step=task.step,
            steps_left=task.steps_left,
        )

    def _horizon(self, tokens: Ints, limit: int) -> int:
        """Return how many positions matter: up to and including the first end token, within the limit."""
        ends = np.flatnonzero(tokens[:limit] == self.adapter.end)
        return int(ends[0]) + 1 if len(ends) else limit

    def _converged(self, tokens: Ints, limit: int) -> bool:
        """Tell whether no mask stands before the first fixed end token, nor within the limit where none is fixed."""
        return not (tokens[: self._horizon(tokens, limit)] == self.adapter.mask).any()

    def _closed(self, tokens: Ints) -> Ints:
        """Fill everything after the first end token with end tokens."""
        ends = np.flatnonzero(tokens == self.adapter.end)
        if len(ends):
            tokens[ends[0] :] = self.adapter.end
        return tokens


def _decoded(task: DecodeTask, signals: Signals, logits: Tensor) -> TokenResult:
    logprobs = None if task.top_logprobs is None else fixed_tokens(logits, signals.tokens, task.top_logprobs)[0]
    return TokenResult(token=int(signals.tokens[0]), logprobs=logprobs)


def _record(task: CanvasTask, draft: Ints, fixed: Flags, signals: Signals) -> StepTrace:
    assert signals.entropy is not None, "traced rows ask for entropy"
    return StepTrace(
        canvas=task.index,
        step=task.step,
        max_steps=task.step + task.steps_left,
        draft=tuple(draft.tolist()),
        fixed=tuple(fixed.tolist()),
        confidence=tuple(signals.probability.tolist()),
        entropy=tuple(signals.entropy.tolist()),
    )


def _draw(task: CanvasTask | DecodeTask) -> Draw:
    match task:
        case CanvasTask():
            return Draw(
                places=task.asked, span=len(task.tokens), sampling=task.sampling, canvas=task.index, step=task.step
            )
        case DecodeTask():
            return Draw(places=(0,), span=1, sampling=task.sampling, canvas=DECODING, step=task.index)
        case _:
            assert_never(task)
