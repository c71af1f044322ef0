"""One tick of the engine: forward, signals, strategies."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import assert_never

import numpy as np
import torch

from unmask.engine.adapter import Adapter
from unmask.engine.runner import Runner
from unmask.engine.signals import Draw, Flags, Ints, Needs, Signals, observe
from unmask.engine.strategies.base import CanvasView, Strategy
from unmask.engine.strategies.registry import make_strategy
from unmask.plan import CanvasResult, CanvasTask, DecodeTask, Plan, Row, RowResult, StepRecord, TokenResult
from unmask.types import StrategyChoice

TRACED = Needs(entropy=True)
DECODING = -1


@dataclass(slots=True, kw_only=True)
class ForwardMeter:
    """Time spent inside the model's forward, and the tokens it took."""

    seconds: float = 0.0
    calls: int = 0
    tokens: int = 0


class Engine:
    """Runs plans. Holds weights and KV pages and nothing about requests."""

    def __init__(self, runner: Runner, adapter: Adapter, now: Callable[[], float]) -> None:
        self.runner = runner
        self.adapter = adapter
        self.meter = ForwardMeter()
        self._now = now
        self._strategy = lru_cache(maxsize=64)(make_strategy)

    @torch.inference_mode()
    def run(self, plan: Plan) -> tuple[RowResult, ...]:
        """Run one forward and let each row's strategy act on it; one result per row of the plan."""
        started = self._now()
        logits = self.runner.forward(plan.rows)
        self.meter.seconds += self._now() - started
        self.meter.calls += 1
        self.meter.tokens += sum(_length(row) for row in plan.rows)
        tasks = [row.task for row in plan.rows if row.task is not None]
        if not tasks:
            return (None,) * len(plan.rows)
        logits[:, self.adapter.forbidden] = float("-inf")
        signals = iter(observe(logits, [_draw(task) for task in tasks], self._needs(tasks)))
        return tuple(None if row.task is None else self._apply(row.task, next(signals)) for row in plan.rows)

    def _needs(self, tasks: list[CanvasTask | DecodeTask]) -> Needs:
        canvases = [task for task in tasks if isinstance(task, CanvasTask)]
        wanted = [self._strategy(task.strategy).needs for task in canvases]
        wanted += [TRACED for task in canvases if task.trace]
        return reduce(Needs.__or__, wanted, Needs())

    def _apply(self, task: CanvasTask | DecodeTask, signals: Signals) -> RowResult:
        match task:
            case DecodeTask():
                return TokenResult(token=int(signals.tokens[0]))
            case CanvasTask():
                return self._denoise(task, signals)
            case _:
                assert_never(task)

    def _denoise(self, task: CanvasTask, signals: Signals) -> CanvasResult:
        before = np.array(task.tokens, dtype=np.int64)
        is_open = before == self.adapter.mask
        draft = np.where(is_open, signals.tokens, before)
        state: object = None
        if task.steps_left == 1:
            after = draft
        else:
            strategy = self._strategy(task.strategy)
            view = self._view(task, before, is_open, draft)
            after, state = _revealed(strategy, view, signals, task.state, self.adapter.mask)
        converged = self._converged(after, task.limit)
        finished = converged or task.steps_left == 1
        fixed = after != self.adapter.mask
        if finished:
            after = self._closed(np.where(fixed, after, draft))
        return CanvasResult(
            tokens=tuple(after.tolist()),
            finished=finished,
            converged=converged,
            state=state,
            record=_record(draft, fixed, signals) if task.trace else None,
        )

    def _view(self, task: CanvasTask, before: Ints, is_open: Flags, draft: Ints) -> CanvasView:
        frozen = np.zeros(len(before), dtype=np.bool_)
        frozen[list(task.frozen)] = True
        useful = np.zeros(len(before), dtype=np.bool_)
        useful[: self._horizon(draft, task.limit)] = True
        candidates = is_open & useful
        return CanvasView(
            tokens=before,
            open=is_open,
            # A frozen token past the draft's end may leave nothing open before it: then any open position will do.
            candidates=candidates if candidates.any() else is_open,
            frozen=frozen,
            step=task.step,
            steps_left=task.steps_left,
        )

    def _horizon(self, tokens: Ints, limit: int) -> int:
        """Return how many positions matter: up to and including the first end token, within the limit."""
        ends = np.flatnonzero(tokens[:limit] == self.adapter.end)
        return int(ends[0]) + 1 if len(ends) else limit

    def _converged(self, tokens: Ints, limit: int) -> bool:
        """Tell whether no mask stands before the first fixed end token, nor within the limit where there is none."""
        return not (tokens[: self._horizon(tokens, limit)] == self.adapter.mask).any()

    def _closed(self, tokens: Ints) -> Ints:
        """Fill everything after the first end token with end tokens."""
        ends = np.flatnonzero(tokens == self.adapter.end)
        if len(ends):
            tokens[ends[0] :] = self.adapter.end
        return tokens


def _revealed(
    strategy: Strategy, view: CanvasView, signals: Signals, state: object, mask: int
) -> tuple[Ints, object]:
    update = strategy.step(view, signals, state)
    revealed = update.revealed & view.open
    assert revealed.any(), "a strategy reveals at least one position a step"
    after = np.where(revealed, signals.tokens, view.tokens)
    if update.reopened is not None:
        after[update.reopened & ~view.frozen & ~view.open] = mask
    return after, update.state


def _record(draft: Ints, fixed: Flags, signals: Signals) -> StepRecord:
    assert signals.entropy is not None, "traced rows need entropy"
    return StepRecord(
        draft=tuple(draft.tolist()),
        fixed=tuple(fixed.tolist()),
        confidence=tuple(signals.confidence.tolist()),
        entropy=tuple(signals.entropy.tolist()),
    )


def _draw(task: CanvasTask | DecodeTask) -> Draw:
    match task:
        case CanvasTask():
            return Draw(length=len(task.tokens), sampling=task.sampling, canvas=task.index, step=task.step)
        case DecodeTask():
            return Draw(length=1, sampling=task.sampling, canvas=DECODING, step=task.index)
        case _:
            assert_never(task)


def _length(row: Row) -> int:
    return len(row.append) + (len(row.task.tokens) if isinstance(row.task, CanvasTask) else 0)
