"""One tick of the engine: forward, signals, strategies."""

from dataclasses import replace
from functools import lru_cache, reduce
from typing import assert_never, cast

import numpy as np
import torch
from torch import Tensor

from unmask.engine.adapter import Adapter
from unmask.engine.logprobs import fixed_tokens
from unmask.engine.progress import Earlier, Step, measure, needs_of, remember
from unmask.engine.runner import RowRunner
from unmask.engine.signals import INFINITY, Draw, Ints, Needs, Signals, observe, spread
from unmask.engine.speculation import speculated
from unmask.engine.strategies.base import CanvasView
from unmask.engine.strategies.registry import make_strategy
from unmask.plan import (
    CanvasResult,
    CanvasTask,
    DecodeTask,
    ExitOffer,
    Plan,
    RowFailure,
    RowResult,
    SpeculativeTask,
    Task,
    TokenResult,
)
from unmask.policy.exit_rule import may_be_met
from unmask.types import FixedToken, Sampling, StepTrace

Tokens = tuple[int, ...]

UNRANKED = Needs(confidence=False)
TRACED = Needs(entropy=True)
DECODING = -1
NOT_NUMBERS = "the network's logits for this request are not numbers"


class Engine:
    """Runs plans. Holds weights and KV pages and nothing about requests."""

    def __init__(self, runner: RowRunner, adapter: Adapter) -> None:
        self.runner = runner
        self.adapter = adapter
        self._forbidden = torch.tensor(adapter.forbidden, dtype=torch.long)
        self._strategy = lru_cache(maxsize=64)(make_strategy)

    @torch.inference_mode()
    def run(self, plan: Plan) -> tuple[RowResult, ...]:
        """Run one forward and let each row's strategy act on it; one result per row of the plan."""
        logits = self.runner.forward(plan.rows)
        tasks = [row.task for row in plan.rows if row.task is not None]
        if not tasks:
            return (None,) * len(plan.rows)
        draws = [_draw(task) for task in tasks]
        logits.index_fill_(1, self._forbidden, -INFINITY)
        signals = observe(logits, draws, self._needs(tasks))
        parts = logits.split_with_sizes([draw.length for draw in draws])
        results = map(self._apply, tasks, signals, parts)
        return tuple(None if row.task is None else next(results) for row in plan.rows)

    def _needs(self, tasks: list[Task]) -> Needs:
        canvases = [task for task in tasks if isinstance(task, CanvasTask)]
        wanted = [self._strategy(task.strategy).needs for task in canvases]
        wanted += [TRACED for task in canvases if task.trace]
        wanted += [needs_of(task.signals) for task in canvases if task.signals]
        wanted += [Needs() for task in tasks if isinstance(task, SpeculativeTask)]
        return reduce(Needs.__or__, wanted, UNRANKED)

    def _apply(self, task: Task, signals: Signals | None, logits: Tensor) -> RowResult:
        """Let a row act on its signals; ``logits`` are the row's own, ``[asked, vocabulary]``."""
        if signals is None:
            return RowFailure(error=NOT_NUMBERS)
        match task:
            case DecodeTask():
                return _decoded(task, signals, logits)
            case SpeculativeTask():
                return speculated(task, signals, logits, self.adapter.end)
            case CanvasTask():
                return self._denoise(task, signals, logits)
            case _:
                assert_never(task)

    def _denoise(self, task: CanvasTask, own: Signals, logits: Tensor) -> CanvasResult:
        before = np.array(task.tokens, dtype=np.int64)
        signals = spread(self._read(task, own), task.asked, before)
        draft = tuple(np.where(before == self.adapter.mask, signals.tokens, before).tolist())
        after, state = task.tokens, task.state
        last = task.steps_left == 1
        # A draft that a request starts from may have converged already.
        if not last and not self._converged(after, task.limit):
            after, state = self._stepped(task, self._view(task, before, draft), signals)
        converged = self._converged(after, task.limit)
        draft = self.adapter.closed(draft)
        if converged or last:
            after = draft
        result = CanvasResult(
            tokens=after,
            finished=converged or last,
            converged=converged,
            state=state,
            record=step_record(task, draft, tuple(token != self.adapter.mask for token in after), signals)
            if task.trace
            else None,
            logprobs=() if task.top_logprobs is None else self._logprobs(task, after, logits, task.top_logprobs),
        )
        return self._measured(task, result, own, draft, logits) if task.signals else result

    def _read(self, task: CanvasTask, own: Signals) -> Signals:
        """Leave out distributions that the row's strategy does not read: they are large, and it is one row of many."""
        reads = self._strategy(task.strategy).needs.log_probabilities
        return own if reads or own.log_probabilities is None else replace(own, log_probabilities=None)

    def _measured(
        self, task: CanvasTask, result: CanvasResult, own: Signals, draft: Tokens, logits: Tensor
    ) -> CanvasResult:
        """Add progress signals to a result, what the next step compares with, and an exit where the rule allows it."""
        mask = self.adapter.mask
        # What was reopened in this step goes back to what it was, and nobody has asked for its distribution.
        pairs = zip(task.tokens, result.tokens, strict=True)
        still_open = [place for place, (old, new) in enumerate(pairs) if old == mask == new]
        horizon = self.adapter.horizon(draft, task.limit)
        step = Step(
            asked=np.array(task.asked, dtype=np.int64),
            signals=own,
            draft=np.array(draft, dtype=np.int64),
            fillable=np.array([place for place in still_open if place < horizon], dtype=np.int64),
        )
        progress = measure(step, cast("Earlier | None", task.earlier), task.signals)
        if result.finished:
            return replace(result, progress=progress)
        offer = None
        if task.exit is not None and may_be_met(task.exit, progress):
            wanted = task.top_logprobs
            offer = ExitOffer(
                tokens=draft, logprobs=() if wanted is None else self._logprobs(task, draft, logits, wanted)
            )
        earlier = remember(step, np.array(still_open, dtype=np.int64), task.signals)
        return replace(result, progress=progress, offer=offer, earlier=earlier)

    def _logprobs(self, task: CanvasTask, after: Tokens, logits: Tensor, count: int) -> tuple[FixedToken | None, ...]:
        """Score what the step has fixed and may become output; what a draft gave stands from the first step on."""
        asked = np.array(task.asked, dtype=np.int64)
        was_open = np.array(task.tokens, dtype=np.int64)[asked] == self.adapter.mask
        tokens = np.array(after, dtype=np.int64)[asked]
        # Behind the end of a finished canvas is nothing that becomes output.
        until = task.limit if self.adapter.mask in after else self.adapter.horizon(after, task.limit)
        rows = np.flatnonzero((was_open | (task.step == 0)) & (tokens != self.adapter.mask) & (asked < until))
        found = fixed_tokens(logits[torch.from_numpy(rows)], tokens[rows], count)
        scored: list[FixedToken | None] = [None] * len(after)
        for place, token in zip(asked[rows].tolist(), found, strict=True):
            scored[place] = token
        return tuple(scored)

    def _stepped(self, task: CanvasTask, view: CanvasView, signals: Signals) -> tuple[Tokens, object]:
        """Let the strategy reveal and reopen positions."""
        update = self._strategy(task.strategy).step(view, signals, task.state)
        revealed = update.revealed & view.candidates
        assert revealed.any(), "a strategy reveals at least one candidate a step"
        after = np.where(revealed, signals.tokens, view.tokens)
        if update.reopened is not None:
            after[update.reopened & ~view.frozen & ~view.open] = self.adapter.mask
        return tuple(after.tolist()), update.state

    def _view(self, task: CanvasTask, before: Ints, draft: Tokens) -> CanvasView:
        is_open = before == self.adapter.mask
        horizon = self.adapter.horizon(draft, task.limit)
        candidates = is_open.copy()
        candidates[horizon:] = False
        quota = -(-int(candidates.sum()) // task.steps_left)
        window = task.strategy.effective_window
        if window is not None:
            candidates &= np.cumsum(candidates) <= max(window, quota)
        frozen = np.zeros_like(is_open)
        frozen[list(task.frozen)] = True
        return CanvasView(
            tokens=before,
            open=is_open,
            candidates=candidates,
            quota=quota,
            frozen=frozen,
            step=task.step,
            steps_left=task.steps_left,
            horizon=horizon,
            end=self.adapter.end,
        )

    def _converged(self, tokens: Tokens, limit: int) -> bool:
        """Tell whether no mask stands before the first fixed end token, nor within the limit where none is fixed."""
        return self.adapter.mask not in tokens[: self.adapter.horizon(tokens, limit)]


def _decoded(task: DecodeTask, signals: Signals, logits: Tensor) -> TokenResult:
    logprobs = None if task.top_logprobs is None else fixed_tokens(logits, signals.tokens, task.top_logprobs)[0]
    return TokenResult(token=int(signals.tokens[0]), logprobs=logprobs)


def step_record(task: CanvasTask, draft: Tokens, fixed: tuple[bool, ...], signals: Signals) -> StepTrace:
    """Return what a step is told of in a trace: its draft, what of it stays, and its signals."""
    assert signals.entropy is not None, "traced rows ask for entropy"
    return StepTrace(
        canvas=task.index,
        step=task.step,
        max_steps=task.step + task.steps_left,
        draft=draft,
        fixed=fixed,
        confidence=tuple(signals.probability.tolist()),
        entropy=tuple(signals.entropy.tolist()),
    )


def _draw(task: Task) -> Draw:
    match task:
        case CanvasTask():
            return Draw(
                places=task.asked, span=len(task.tokens), sampling=task.sampling, canvas=task.index, step=task.step
            )
        case DecodeTask():
            return Draw(places=(0,), span=1, sampling=task.sampling, canvas=DECODING, step=task.index)
        case SpeculativeTask():
            span = len(task.draft) + 1 + len(task.tokens)
            return Draw(places=tuple(range(span)), span=span, sampling=Sampling(), canvas=DECODING, step=task.index)
        case _:
            assert_never(task)
