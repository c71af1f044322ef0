"""Writes a tick's results into the sequences."""

from collections.abc import Sequence as Items
from typing import assert_never

from unmask.plan import CanvasResult, Row, SpeculativeResult, SpeculativeTask, StepResult, TokenResult
from unmask.sched.ending import Writer
from unmask.sched.exits import book_control, close_control
from unmask.sequence import Canvas, Sequence
from unmask.types import ExitReason, FinishReason, FixedToken, Outcome


def apply_append(sequence: Sequence, row: Row) -> None:
    """Book the tokens that a row appended; those of a draft are booked when they are accepted."""
    count = len(row.append) - (len(row.task.draft) if isinstance(row.task, SpeculativeTask) else 0)
    sequence.committed += count
    sequence.pending = sequence.pending[count:]
    if sequence.output:
        sequence.commit_tokens += count
    else:
        sequence.prefill_tokens += count
    if sequence.submission.only_prefills and not sequence.pending:
        sequence.outcome, sequence.exit_reason = Outcome.COMPLETED, ExitReason.CONVERGED


def apply_result(sequence: Sequence, result: StepResult | None, writer: Writer) -> bool:
    """Book a step and its outcome; returns whether the sequence's output grew."""
    match result:
        case None:
            return False
        case TokenResult():
            sequence.steps += 1
            logprobs = () if result.logprobs is None else (result.logprobs,)
            _extend(sequence, (result.token,), logprobs, ExitReason.CONVERGED, writer)
            if sequence.finish_reason is FinishReason.LENGTH:
                sequence.exit_reason = ExitReason.MAX_TOTAL_STEPS
            return True
        case SpeculativeResult():
            _apply_speculative(sequence, result, writer)
            return True
        case CanvasResult():
            return _apply_canvas(sequence, result, writer)
        case _:
            assert_never(result)


def _apply_speculative(sequence: Sequence, result: SpeculativeResult, writer: Writer) -> None:
    """Write what a step has verified and keep its draft for the next; KV of what it rejected is written over there."""
    sequence.steps += 1
    sequence.drafted += len(sequence.draft)
    written = len(sequence.output)
    _extend(sequence, result.tokens, result.logprobs, ExitReason.CONVERGED, writer)
    if sequence.finish_reason is FinishReason.LENGTH:
        sequence.exit_reason = ExitReason.MAX_TOTAL_STEPS
    # The output may have ended within the draft.
    accepted = min(result.accepted, len(sequence.output) - written)
    sequence.accepted += accepted
    sequence.committed += accepted
    sequence.commit_tokens += accepted
    sequence.kept_tokens += accepted
    # One token more is drawn behind a draft, and has to have room.
    room = sequence.submission.max_tokens - len(sequence.output) - 1
    sequence.draft = result.draft[: max(0, room)]
    sequence.pending = (result.tokens[-1], *sequence.draft)


def _apply_canvas(sequence: Sequence, result: CanvasResult, writer: Writer) -> bool:
    canvas = sequence.canvas
    assert canvas is not None, "a canvas result belongs to an open canvas"
    if result.record is not None:
        sequence.last_step = result.record
        if sequence.submission.trace:
            sequence.trace.append(result.record)
    canvas.tokens = result.tokens
    canvas.state = result.state
    canvas.earlier = result.earlier
    if result.logprobs:
        earlier = canvas.logprobs or (None,) * len(result.tokens)
        canvas.logprobs = tuple(new or old for new, old in zip(result.logprobs, earlier, strict=True))
    canvas.steps += 1
    sequence.steps += 1
    if not result.finished:
        return False
    sequence.canvas = None
    if result.exited:
        sequence.exited, sequence.met = True, result.progress
    book_control(sequence, canvas, result.tokens, writer)
    written = len(sequence.output)
    _extend(sequence, result.tokens, canvas.logprobs, _exit_reason(sequence, canvas, result), writer)
    sequence.kept_tokens += canvas.steps * (len(sequence.output) - written)
    if sequence.outcome is not None:
        close_control(sequence, writer)
    return True


def _exit_reason(sequence: Sequence, canvas: Canvas, result: CanvasResult) -> ExitReason:
    if result.completed:
        return ExitReason.COMPLETE
    if result.converged:
        return ExitReason.CONVERGED
    if result.exited:
        return ExitReason.EARLY_EXIT
    cut_short = canvas.max_steps < sequence.submission.budget.max_steps
    return ExitReason.MAX_TOTAL_STEPS if cut_short else ExitReason.MAX_STEPS


def _extend(
    sequence: Sequence,
    tokens: tuple[int, ...],
    logprobs: Items[FixedToken | None],
    reason: ExitReason,
    writer: Writer,
) -> None:
    """Add finished tokens to the output and end the sequence where its text, tokens or steps end."""
    sequence.exit_reason = reason
    finish = writer.write(sequence, tokens, logprobs)
    if finish is None and reason is ExitReason.COMPLETE:
        # There was no room behind it for an end token.
        writer.close(sequence)
        finish = FinishReason.STOP
    if finish is None and sequence.steps_left == 0:
        sequence.exit_reason = ExitReason.MAX_TOTAL_STEPS
        finish = writer.close(sequence)
    if finish is None:
        sequence.pending = tokens
    else:
        sequence.finish_reason = finish
        sequence.outcome = Outcome.COMPLETED
