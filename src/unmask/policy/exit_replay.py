"""What an exit rule would have done, from the trace of a run to its end."""

from collections.abc import Iterator
from itertools import groupby

from unmask.backend import ExitRecord
from unmask.policy.exit_rule import is_met
from unmask.types import ExitRule, ProgressSignal, StepTrace


def first_exit(rule: ExitRule, canvas: tuple[StepTrace, ...]) -> StepTrace | None:
    """Return the step at which a rule stops a canvas, of its steps in order; nothing where it is never met in time.

    A step that has finished the canvas by itself is no exit.
    """
    streak = 0
    for entry in canvas:
        if all(entry.fixed):
            return None
        assert entry.progress is not None, "a traced request has its progress"
        streak = streak + 1 if is_met(rule, entry.progress) else 0
        if streak >= rule.patience and entry.step + 1 >= rule.min_steps:
            return entry
    return None


def replay(rule: ExitRule, trace: tuple[StepTrace, ...], *, stop: tuple[str, ...] = ()) -> ExitRecord | None:
    """Return what `unmask.types.ExitAction.OBSERVE` notes of a rule, from the whole trace of a completed request.

    So one traced run answers for any rule. A rule that asks for the format needs a trace of a request with a
    `unmask.backend.Request.check`; without one it is never met, as when serving.

    Args:
        rule: the rule.
        trace: all steps of a request in diffusion mode, in order.
        stop: the request's stop sequences.
    """
    is_judged = bool(trace) and trace[-1].progress is not None and trace[-1].progress[ProgressSignal.FORMAT] is not None
    if ProgressSignal.FORMAT in rule.signals and not is_judged:
        return None
    canvases = list(_canvases(trace))
    exits = [first_exit(rule, canvas) for canvas in canvases]
    if not any(exits):
        return None
    steps, data, text = 0, b"", ""
    for canvas, found in zip(canvases, exits, strict=True):
        end = found or canvas[-1]
        steps, data = steps + end.step + 1, data + end.data
        whole = data.decode("utf-8", "replace")
        text = _cut(whole, stop)
        if end.ends or text != whole:
            break
    return ExitRecord(steps=steps, text=text)


def _canvases(trace: tuple[StepTrace, ...]) -> Iterator[tuple[StepTrace, ...]]:
    for _, steps in groupby(trace, key=lambda entry: entry.canvas):
        yield tuple(steps)


def _cut(text: str, stop: tuple[str, ...]) -> str:
    """Cut a text before the stop sequence that is complete first, of two at once the longer."""
    found = [(start + len(word), start) for word in stop if (start := text.find(word)) >= 0]
    return text[: min(found)[1]] if found else text
