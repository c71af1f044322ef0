"""Early exits: judges a canvas's draft where its rule is met, and stops the canvas or notes that it would stop."""

import logging
from dataclasses import replace
from itertools import takewhile

from unmask.plan import CanvasResult, ExitOffer
from unmask.policy.exit_rule import MEASURED, is_met
from unmask.sched.ending import Writer
from unmask.sequence import Canvas, NotedExit, Sequence
from unmask.types import ExitAction, ExitPlan, ExitRule, Outcome, Progress, ProgressSignal, StepTrace

logger = logging.getLogger(__name__)


def rule_of(sequence: Sequence, canvas: Canvas) -> ExitRule | None:
    """Return the rule by which a canvas may still stop, or be noted: once, and never by a format nobody judges."""
    submission = sequence.submission
    if submission.exit is None or canvas.noted is not None:
        return None
    rule = submission.exit.rule
    return None if ProgressSignal.FORMAT in rule.signals and submission.check is None else rule


def wanted_signals(sequence: Sequence, rule: ExitRule | None) -> frozenset[ProgressSignal]:
    """Return what the engine is to measure: all for a trace, else what the rule reads."""
    if sequence.submission.trace:
        return frozenset(MEASURED)
    return frozenset() if rule is None else rule.signals & frozenset(MEASURED)


def with_exit(sequence: Sequence, result: CanvasResult, writer: Writer) -> CanvasResult:
    """Return what becomes of a canvas after a step: stopped where its plan says so, else as the engine left it.

    The format of a draft is judged on the answer as it would be, earlier canvases first, and only where the answer
    would end with it.
    """
    canvas, submission = sequence.canvas, sequence.submission
    assert canvas is not None, "a canvas result belongs to an open canvas"
    progress = result.progress
    is_traced = submission.trace and result.record is not None
    if progress is not None and (is_traced or result.offer is not None):
        draft = result.record.draft if result.record is not None else _offered(result.offer)
        if ProgressSignal.FORMAT in _read(submission.exit) or is_traced:
            progress = progress.replaced(ProgressSignal.FORMAT, _format(sequence, draft, writer))
    if is_traced and result.record is not None:
        result = replace(result, record=_traced(sequence, result.record, progress, writer))
    return _decided(submission.exit, canvas, result, progress)


def book_control(sequence: Sequence, canvas: Canvas, tokens: tuple[int, ...], writer: Writer) -> None:
    """Book a finished canvas of a control run: what it would have been with its exit, and what that would have cost.

    Called before the canvas joins the sequence's own output.
    """
    control = sequence.control
    if control is None:
        if canvas.noted is None:
            return
        control = sequence.control = writer.copy(sequence)
        control.steps -= canvas.steps
    if control.outcome is not None:
        return
    noted = canvas.noted or NotedExit(steps=canvas.steps, tokens=tokens)
    control.met = noted.progress or control.met
    control.steps += noted.steps
    if writer.write(control, noted.tokens) is not None:
        control.outcome = Outcome.COMPLETED


def close_control(sequence: Sequence, writer: Writer) -> None:
    """End a control run's other self where its own run ends; nobody knows what would have followed."""
    control = sequence.control
    if control is not None and control.outcome is None:
        writer.close(control)
        control.outcome = Outcome.COMPLETED


def _read(plan: ExitPlan | None) -> frozenset[ProgressSignal]:
    return frozenset() if plan is None else plan.rule.signals


def _offered(offer: ExitOffer | None) -> tuple[int, ...]:
    assert offer is not None, "what is not traced is looked at where it is offered"
    return offer.tokens


def _decided(plan: ExitPlan | None, canvas: Canvas, result: CanvasResult, progress: Progress | None) -> CanvasResult:
    """Count steps in a row that meet the rule, and stop or note the canvas where there are enough."""
    offer = result.offer
    if plan is None or offer is None or progress is None or not is_met(plan.rule, progress):
        canvas.streak = 0
        return result
    canvas.streak += 1
    steps = canvas.steps + 1
    if canvas.streak < plan.rule.patience or steps < plan.rule.min_steps:
        return result
    if plan.action is ExitAction.OBSERVE:
        canvas.noted = NotedExit(steps=steps, tokens=offer.tokens, progress=progress)
        return result
    record = result.record
    return replace(
        result,
        tokens=offer.tokens,
        finished=True,
        exited=True,
        progress=progress,
        logprobs=offer.logprobs,
        record=None if record is None else replace(record, fixed=(True,) * len(record.fixed)),
    )


def _format(sequence: Sequence, draft: tuple[int, ...], writer: Writer) -> float | None:
    """Judge the answer with a draft at its end: 1 or 0, or nothing where it would go on or nobody judges."""
    check = sequence.submission.check
    if check is None:
        return None
    answer = writer.copy(sequence)
    if writer.write(answer, draft) is None:
        return None
    try:
        return float(check(answer.text))
    except Exception:  # a check that cannot judge has not passed, and must not end the requests beside this one
        logger.exception("the check of a draft failed")
        return 0.0


def _traced(sequence: Sequence, record: StepTrace, progress: Progress | None, writer: Writer) -> StepTrace:
    """Add to a step's record what the draft would add to the answer."""
    room = sequence.submission.max_tokens - len(sequence.output)
    added = record.draft[:room]
    kept = tuple(takewhile(lambda token: not writer.ends(token), added))
    ended = len(kept) < len(added)
    data = b"".join(map(writer.token_bytes, kept))
    return replace(record, progress=progress, data=data, ends=ended or len(record.draft) >= room)
