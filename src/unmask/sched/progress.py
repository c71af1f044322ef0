"""Writes a tick's results into the sequences."""

from typing import assert_never

from unmask.plan import CanvasResult, Row, RowResult, StepRecord, TokenResult
from unmask.sched.ending import Decode, find_ending
from unmask.sequence import Canvas, Sequence, TraceEntry
from unmask.types import ExitReason, FinishReason, Outcome


def apply_append(sequence: Sequence, row: Row) -> None:
    """Book the tokens that a row appended."""
    count = len(row.append)
    sequence.committed += count
    sequence.pending = sequence.pending[count:]
    if sequence.output:
        sequence.commit_tokens += count
    else:
        sequence.prefill_tokens += count


def apply_result(sequence: Sequence, result: RowResult, *, end: int, decode: Decode) -> bool:
    """Book a step and its outcome; returns whether the sequence's output grew."""
    match result:
        case None:
            return False
        case TokenResult():
            sequence.steps += 1
            grown = _extend(sequence, (result.token,), ExitReason.CONVERGED, end=end, decode=decode)
            if sequence.finish_reason is FinishReason.LENGTH:
                sequence.exit_reason = ExitReason.MAX_TOTAL_STEPS
            return grown
        case CanvasResult():
            return _apply_canvas(sequence, result, end=end, decode=decode)
        case _:
            assert_never(result)


def _apply_canvas(sequence: Sequence, result: CanvasResult, *, end: int, decode: Decode) -> bool:
    canvas = sequence.canvas
    assert canvas is not None, "a canvas result belongs to an open canvas"
    if result.record is not None:
        _record(sequence, canvas, result.record)
    canvas.tokens = result.tokens
    canvas.state = result.state
    canvas.steps += 1
    sequence.steps += 1
    if not result.finished:
        return False
    sequence.canvas = None
    return _extend(sequence, result.tokens, _exit_reason(sequence, canvas, result), end=end, decode=decode)


def _exit_reason(sequence: Sequence, canvas: Canvas, result: CanvasResult) -> ExitReason:
    if result.converged:
        return ExitReason.CONVERGED
    cut_short = canvas.max_steps < sequence.submission.budget.max_steps
    return ExitReason.MAX_TOTAL_STEPS if cut_short else ExitReason.MAX_STEPS


def _record(sequence: Sequence, canvas: Canvas, record: StepRecord) -> None:
    sequence.last_step = TraceEntry(
        canvas=sequence.canvases - 1,
        step=canvas.steps,
        max_steps=canvas.max_steps,
        draft=record.draft,
        fixed=record.fixed,
        confidence=record.confidence,
        entropy=record.entropy,
    )
    if sequence.submission.trace:
        sequence.trace.append(sequence.last_step)


def _extend(sequence: Sequence, tokens: tuple[int, ...], reason: ExitReason, *, end: int, decode: Decode) -> bool:
    """Add finished tokens to the output and end the sequence where its text, tokens or steps end."""
    submission = sequence.submission
    sequence.output += tokens
    sequence.exit_reason = reason
    ending = find_ending(sequence.output, end=end, limit=submission.max_tokens, stop=submission.stop, decode=decode)
    if ending is not None:
        del sequence.output[ending.tokens :]
        sequence.text = ending.text
        sequence.finish_reason = ending.reason
        sequence.outcome = Outcome.COMPLETED
        return True
    sequence.text = decode(sequence.output)
    if sequence.steps_left == 0:
        sequence.exit_reason = ExitReason.MAX_TOTAL_STEPS
        sequence.finish_reason = FinishReason.LENGTH
        sequence.outcome = Outcome.COMPLETED
    else:
        sequence.pending = tokens
    return True
