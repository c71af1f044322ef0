"""One tick of an engine whose model has no mask: forward, stop rule, draws, noise."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol, cast

import numpy as np
import torch
from torch import Tensor

from unmask.engine.adapter import Adapter
from unmask.engine.engine import NOT_NUMBERS, step_record
from unmask.engine.logprobs import fixed_tokens
from unmask.engine.progress import Earlier, Step, measure, needs_of, remember
from unmask.engine.renoising.canvas import NoisyCanvas, noise
from unmask.engine.renoising.terms import Renoising
from unmask.engine.signals import INFINITY, Draw, Flags, Ints, Needs, Signals, observe, sample
from unmask.plan import CanvasResult, CanvasTask, ExitOffer, Plan, Row, RowFailure, RowResult
from unmask.policy.exit_rule import may_be_met
from unmask.types import FixedToken, Sampling

Tokens = tuple[int, ...]


class NoisyRunner(Protocol):
    """Runs rows whose canvases are noise at first."""

    def forward(self, rows: Sequence[Row], canvases: Sequence[NoisyCanvas | None]) -> list[Tensor | None]:
        """Append what rows append, and return what their canvases come to, ``[length, width]`` each.

        A row without a canvas has ``None`` in both.
        """
        ...

    def logits(self, hidden: Tensor) -> Tensor:
        """Return logits ``[length, vocabulary]`` of a canvas, in single precision, where it was computed."""
        ...

    def conditioning(self, logits: Tensor) -> Tensor:
        """Return the embeddings ``[length, width]`` that logits expect, for the next step."""
        ...


class RenoisingEngine:
    """Runs plans of canvases; holds weights and KV pages and nothing about requests.

    A canvas is open everywhere until it is finished: its tokens travel in the task's state, as ids that noise may
    still replace, and whatever reads a draft reads the likeliest tokens. What a canvas ends with are these.
    """

    def __init__(self, runner: NoisyRunner, adapter: Adapter, terms: Renoising) -> None:
        self.runner = runner
        self.adapter = adapter
        self.terms = terms

    @torch.inference_mode()
    def run(self, plan: Plan) -> tuple[RowResult, ...]:
        """Run one forward and denoise each row's canvas; one result per row of the plan."""
        tasks = [_canvas_task(row) for row in plan.rows]
        canvases = [None if task is None else self._canvas(task) for task in tasks]
        found = self.runner.forward(plan.rows, canvases)
        # One row at a time: logits of a whole batch would take many times the memory of its weights' layers.
        return tuple(
            None if task is None or canvas is None or hidden is None else self._denoise(task, canvas, hidden)
            for task, canvas, hidden in zip(tasks, canvases, found, strict=True)
        )

    def _canvas(self, task: CanvasTask) -> NoisyCanvas:
        return cast("NoisyCanvas | None", task.state) or NoisyCanvas(tokens=self._noise(task, task.step))

    def _noise(self, task: CanvasTask, step: int) -> Ints:
        return noise(task.sampling.seed, task.index, step, len(task.tokens), self.terms.vocabulary)

    def _denoise(self, task: CanvasTask, canvas: NoisyCanvas, hidden: Tensor) -> CanvasResult | RowFailure:
        raw = self.runner.logits(hidden)
        raw[:, self.adapter.forbidden] = -INFINITY
        logits = raw / (self.terms.temperature(task.step, task.steps_left) * (task.sampling.temperature or 1.0))
        (signals,) = observe(logits, [_draw(task, Sampling())], _needs(task))
        if signals is None or signals.entropy is None:
            return RowFailure(error=NOT_NUMBERS)
        draft = self.adapter.closed(tuple(signals.tokens.tolist()))
        kept = self.terms.kept(signals.entropy)
        converged = self.terms.is_done(signals.tokens, canvas.earlier, signals.entropy)
        finished = converged or task.steps_left == 1
        fixed = (True,) * len(draft) if finished else tuple(kept.tolist())
        result = CanvasResult(
            tokens=draft if finished else task.tokens,
            finished=finished,
            converged=converged,
            state=None if finished else self._next(task, canvas, signals, kept, logits),
            record=step_record(task, draft, fixed, signals) if task.trace else None,
            logprobs=self._logprobs(task, draft, raw) if finished else (),
        )
        return self._measured(task, result, signals, draft, raw) if task.signals else result

    def _next(
        self,
        task: CanvasTask,
        canvas: NoisyCanvas,
        signals: Signals,
        kept: Flags,
        logits: Tensor,
    ) -> NoisyCanvas:
        """Return the next step's canvas: drawn where this one is sure enough, noise elsewhere."""
        tokens = self._noise(task, task.step + 1)
        places = np.flatnonzero(kept)
        likely = logits[torch.from_numpy(places).to(logits.device)]
        draw = replace(_draw(task, replace(task.sampling, temperature=1.0)), places=tuple(places.tolist()))
        drawn = sample(likely - likely.amax(-1, keepdim=True), draw)
        tokens[places] = drawn.squeeze(-1).cpu().numpy()
        stability = self.terms.stability
        return NoisyCanvas(
            tokens=tokens,
            conditioning=self.runner.conditioning(logits),
            earlier=(*canvas.earlier, signals.tokens)[-stability:] if stability else (),
        )

    def _measured(
        self, task: CanvasTask, result: CanvasResult, signals: Signals, draft: Tokens, raw: Tensor
    ) -> CanvasResult:
        """Add progress signals to a result, what the next step compares with, and an exit where the rule allows it."""
        places = np.arange(len(draft), dtype=np.int64)
        step = Step(
            asked=places,
            signals=signals,
            draft=np.array(draft, dtype=np.int64),
            fillable=places[: self.adapter.horizon(draft, task.limit)],
        )
        progress = measure(step, cast("Earlier | None", task.earlier), task.signals)
        if result.finished:
            return replace(result, progress=progress)
        offer = None
        if task.exit is not None and may_be_met(task.exit, progress):
            offer = ExitOffer(tokens=draft, logprobs=self._logprobs(task, draft, raw))
        return replace(result, progress=progress, offer=offer, earlier=remember(step, places, task.signals))

    def _logprobs(self, task: CanvasTask, draft: Tokens, raw: Tensor) -> tuple[FixedToken | None, ...]:
        """Score what may become output, by what the model says before any temperature."""
        if task.top_logprobs is None:
            return ()
        length = self.adapter.horizon(draft, task.limit)
        found = fixed_tokens(raw[:length].cpu(), np.array(draft[:length], dtype=np.int64), task.top_logprobs)
        return (*found, *(None,) * (len(draft) - length))


def _canvas_task(row: Row) -> CanvasTask | None:
    assert row.task is None or isinstance(row.task, CanvasTask), "models without masks run canvases alone"
    return row.task


def _needs(task: CanvasTask) -> Needs:
    return needs_of(task.signals) | Needs(entropy=True)


def _draw(task: CanvasTask, sampling: Sampling) -> Draw:
    length = len(task.tokens)
    return Draw(places=tuple(range(length)), span=length, sampling=sampling, canvas=task.index, step=task.step)
