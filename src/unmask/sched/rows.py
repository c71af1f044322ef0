"""Turns a running sequence into its row of the next forward."""

from unmask.plan import CanvasTask, DecodeTask, Row
from unmask.sched.exits import rule_of, wanted_signals
from unmask.sched.settings import SchedSettings
from unmask.sequence import Canvas, Sequence
from unmask.types import Mode


def make_row(sequence: Sequence, settings: SchedSettings, prefill_left: int, mask: int) -> Row | None:
    """Return the row of a sequence, opening its next canvas where one starts; nothing when it has to pause.

    ``prefill_left`` is how many more prompt tokens this tick may append.
    """
    in_prompt = not sequence.output
    count = len(sequence.pending)
    if in_prompt and settings.chunked_prefill and count:
        count = _chunk(sequence.committed, count, settings, prefill_left)
        if count == 0:
            return None
    if count < len(sequence.pending):
        return _row(sequence, count, None)
    if sequence.submission.mode is Mode.AUTOREGRESSIVE:
        return _row(sequence, count, _decode_task(sequence))
    fused = settings.fused_prefill if in_prompt else settings.fused_commit
    if count and not fused:
        return _row(sequence, count, None)
    if sequence.canvas is None:
        sequence.canvas = open_canvas(sequence, mask)
        sequence.canvases += 1
    return _row(sequence, count, _canvas_task(sequence, sequence.canvas, mask))


def _chunk(start: int, count: int, settings: SchedSettings, prefill_left: int) -> int:
    """Return how much to append: chunks end at multiples of the chunk size, wherever they start.

    So the same tokens share a forward whether the beginning came from the
    cache or not.
    """
    to_boundary = settings.prefill_tokens - start % settings.prefill_tokens
    wanted = min(count, to_boundary)
    return wanted if wanted <= prefill_left else 0


def _row(sequence: Sequence, count: int, task: CanvasTask | DecodeTask | None) -> Row:
    return Row(
        sequence=sequence.id,
        start=sequence.committed,
        append=sequence.pending[:count],
        pages=tuple(sequence.pages),
        task=task,
    )


def open_canvas(sequence: Sequence, mask: int) -> Canvas:
    """Return the next canvas: masks, or the request's draft if it is the first."""
    submission = sequence.submission
    done = len(sequence.output)
    length = min(submission.canvas_length, submission.context_length - len(submission.prompt) - done)
    tokens: tuple[int, ...] = (mask,) * length
    frozen: frozenset[int] = frozenset()
    if submission.draft is not None and not done:
        start = submission.draft.tokens[:length]
        tokens = tuple(mask if token is None else token for token in start) + tokens[len(start) :]
        frozen = frozenset(place for place in submission.draft.frozen if place < length)
    return Canvas(
        tokens=tokens,
        limit=min(length, submission.max_tokens - done),
        max_steps=min(submission.budget.max_steps, sequence.steps_left),
        frozen=frozen,
    )


def _decode_task(sequence: Sequence) -> DecodeTask:
    submission = sequence.submission
    return DecodeTask(index=len(sequence.output), sampling=submission.sampling, top_logprobs=submission.top_logprobs)


def _canvas_task(sequence: Sequence, canvas: Canvas, mask: int) -> CanvasTask:
    submission = sequence.submission
    traced = submission.trace or submission.snapshots
    rule = rule_of(sequence, canvas)
    # What a draft gives is fixed by no step; its log-probability is that of the first.
    whole = traced or (submission.top_logprobs is not None and canvas.steps == 0)
    return CanvasTask(
        tokens=canvas.tokens,
        asked=tuple(place for place, token in enumerate(canvas.tokens) if whole or token == mask),
        index=sequence.canvases - 1,
        step=canvas.steps,
        steps_left=canvas.max_steps - canvas.steps,
        limit=canvas.limit,
        frozen=canvas.frozen,
        strategy=submission.strategy,
        sampling=submission.sampling,
        state=canvas.state,
        trace=traced,
        top_logprobs=submission.top_logprobs,
        signals=wanted_signals(sequence, rule),
        exit=rule,
        earlier=canvas.earlier,
    )
