"""Writes a tick's results into the sequences."""

from typing import assert_never

from unmask.plan import CanvasResult, Row, RowResult, StepRecord, TokenResult
from unmask.sched.ending import Decode, find_ending
from unmask.sequence import Sequence, TraceEntry
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
            return _extend(sequence, (result.token,), ExitReason.CONVERGED, end=end, decode=decode)
        case CanvasResult():
            return _apply_canvas(sequence, result, end=end, decode=decode)
        case _:
            assert_never(result)


def _apply_canvas(sequence: Sequence, result: CanvasResult, *, end: int, decode: Decode) -> bool:
    canvas = sequence.canvas
    assert canvas is not None, "a canvas result belongs to an open canvas"
    if result.record is not None:
        _record(sequence, canvas.steps, result.record)
    canvas.tokens = result.tokens
    canvas.state = result.state
    canvas.steps += 1
    sequence.steps += 1
    if not result.finished:
        return False
    sequence.canvas = None
    reason = ExitReason.CONVERGED if result.converged else ExitReason.MAX_STEPS
    return _extend(sequence, result.tokens, reason, end=end, decode=decode)


def _record(sequence: Sequence, step: int, record: StepRecord) -> None:
    sequence.last_step = TraceEntry(
        canvas=sequence.canvases - 1,
        step=step,
        draft=record.draft,
        fixed=record.fixed,
        confidence=record.confidence,
        entropy=record.entropy,
    )
    if sequence.submission.trace:
        sequence.trace.append(sequence.last_step)


def _extend(
    sequence: Sequence, tokens: tuple[int, ...], reason: ExitReason, *, end: int, decode: Decode
) -> bool:
    """Add finished tokens to the output and end the sequence where its text, tokens or steps end."""
    submission = sequence.submission
    sequence.output += tokens
    sequence.exit_reason = reason
    ending = find_ending(
        sequence.output, end=end, limit=submission.max_tokens, stop=submission.stop, decode=decode
    )
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
