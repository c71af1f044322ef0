"""A backend whose drafts are known step by step, so that what exits and finality find can be told beforehand."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from unmask.backend import DoneEvent, Event, Generation, ModelInfo, Request
from unmask.policy.exit_replay import first_exit
from unmask.strategy import StrategyName
from unmask.tasks.item import Item, Split
from unmask.testing.builders import make_generation, make_model, make_usage
from unmask.testing.exits import make_progress
from unmask.testing.scripted_backend import ScriptedBackend
from unmask.tune.asking import Asking
from unmask.tune.exit_log import ExitLog
from unmask.tune.exit_runs import ExitRunner
from unmask.tune.items import draw_items
from unmask.types import ExitAction, FinishReason, Progress, ProgressSignal, StepTrace

END, WRONG, MASKED = 1, 99, 4
ASKING = Asking(model="tiny", canvas_length=16)
MODEL = make_model("tiny")
TASK = "sort"


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """How runs go.

    Attributes:
        settles: the step, counted from 1, from which drafts are right.
        hasty_steps: steps that a run with a threshold takes.
        hasty_wrong: every so manieth item comes out wrong with a threshold; 0 for none.
        wrong_below: threshold below which all items come out wrong.
        early_wrong: every so manieth item's draft is wrong until its last step, though it looks settled; 0 for none.
        canvases: of an answer; all of it stands in the last.
        unsure: every so manieth item never gets more confident than 0.6; 0 for none.
        strays: whether a run with a threshold puts another token first in every canvas.
    """

    settles: int = 2
    hasty_steps: int = 4
    hasty_wrong: int = 0
    wrong_below: float = 0.0
    early_wrong: int = 0
    canvases: int = 1
    unsure: int = 0
    strays: bool = False


class TracedBackend(ScriptedBackend):
    """Serves generated items of both splits by a behaviour, traced, its exit rules kept."""

    def __init__(self, behaviour: Behaviour | None = None, *, items: int = 40, model: ModelInfo = MODEL) -> None:
        super().__init__(self._play, models=(model,))
        self.behaviour = behaviour or Behaviour()
        drawn = [item for split in (Split.TUNE, Split.CALIBRATE) for item in draw_items(TASK, items, 0, split)]
        self._items = {item.messages: (number, item) for number, item in enumerate(drawn)}

    def number(self, request: Request) -> int:
        """Return the number of a request's item: tuning items first, then those of calibration."""
        return self._items[request.messages][0]

    def _play(self, request: Request, _: int) -> Iterator[Event]:
        number, item = self._items[request.messages]
        yield DoneEvent(generation=served(request, item, number, self.behaviour))


def served(request: Request, item: Item, number: int, behaviour: Behaviour) -> Generation:
    """Return what such a backend makes of a request."""
    assert request.budget is not None
    is_full = request.strategy.name is StrategyName.LOW_CONFIDENCE and request.strategy.threshold is None
    steps = request.budget.max_steps if is_full else min(behaviour.hasty_steps, request.budget.max_steps)
    wrong = not is_full and behaviour.hasty_wrong and number % behaviour.hasty_wrong == 0
    wrong = wrong or (request.strategy.threshold or 1.0) < behaviour.wrong_below
    late = behaviour.early_wrong and number % behaviour.early_wrong == 0
    text = "?" if wrong else item.answer
    first = WRONG if behaviour.strays and not is_full else 7
    trace: list[StepTrace] = []
    for canvas in range(behaviour.canvases):
        is_last = canvas == behaviour.canvases - 1
        found = _canvas(
            canvas, steps, text if is_last else "", behaviour, looks_settled=bool(late), ends=is_last, first=first
        )
        stop = None
        if request.exit is not None and request.exit.action is ExitAction.STOP:
            stop = first_exit(request.exit.rule, found)
        trace += found if stop is None else found[: stop.step + 1]
        if stop is not None and stop.ends:
            break
    if behaviour.unsure and number % behaviour.unsure == 0:
        trace = [replace(entry, progress=_capped(entry.progress)) for entry in trace]
    last = {entry.canvas: entry for entry in trace}
    data = b"".join(entry.data for entry in last.values())
    return replace(
        make_generation(data.decode(), usage=make_usage(steps_used=len(trace), canvases=behaviour.canvases)),
        trace=tuple(trace),
        tokens=(7, 8, 9, END),
        finish_reason=FinishReason.STOP,
    )


def _capped(progress: Progress | None) -> Progress | None:
    if progress is None or not progress.filled:
        return progress
    least = progress[ProgressSignal.CONFIDENCE_MIN] or 0.0
    return progress.replaced(ProgressSignal.CONFIDENCE_MIN, min(least, 0.6))


def make_runner(folder: Path, backend: TracedBackend) -> ExitRunner:
    """Return a runner that keeps its runs in a folder."""
    return ExitRunner(backend, ASKING, ExitLog(folder / "runs.jsonl", ASKING, MODEL.digest), in_flight=4)


def _canvas(
    canvas: int, steps: int, text: str, behaviour: Behaviour, *, looks_settled: bool, ends: bool, first: int
) -> tuple[StepTrace, ...]:
    return tuple(_step(canvas, step, steps, text, behaviour, looks_settled, ends, first) for step in range(steps))


def _step(
    canvas: int, step: int, steps: int, text: str, behaviour: Behaviour, looks_settled: bool, ends: bool, first: int
) -> StepTrace:
    fixed = MASKED * (step + 1) // steps
    is_settled = step + 1 >= behaviour.settles
    is_right = (step + 1 == steps) if looks_settled else is_settled or step + 1 == steps
    final = (first, 8, 9, END)
    draft = tuple(token if is_right or place < fixed else WRONG for place, token in enumerate(final))
    draft = draft if is_right else (*draft[:-1], END)
    sure = 0.95 if is_settled else 0.2
    return StepTrace(
        canvas=canvas,
        step=step,
        max_steps=steps,
        draft=draft,
        fixed=tuple(place < fixed for place in range(MASKED)),
        confidence=(sure,) * MASKED,
        entropy=(0.1,) * MASKED,
        progress=_progress(step, MASKED - fixed, is_settled=is_settled, settles=behaviour.settles, ends=ends),
        data=(text if is_right else "?").encode() if ends else b"",
        ends=ends,
    )


def _progress(step: int, filled: int, *, is_settled: bool, settles: int, ends: bool) -> Progress:
    if not filled:
        return Progress(filled=0)
    changed = None if step == 0 else float(step + 1 == settles)
    sure = 0.95 if is_settled else 0.2
    return make_progress(
        filled,
        flips=changed,
        kl=changed,
        confidence_p10=sure,
        confidence_mean=sure,
        confidence_min=sure,
        gap=5.0 if is_settled else 0.1,
        entropy=0.01 if is_settled else 2.0,
        format=(1.0 if is_settled else 0.0) if ends else None,
    )
