"""Turns a running sequence into its row of the next forward."""

from typing import NamedTuple, assert_never

from unmask.plan import CanvasTask, DecodeTask, Row, SpeculativeTask, Task
from unmask.sched.exits import rule_of, wanted_signals
from unmask.sched.settings import SchedSettings
from unmask.sequence import Canvas, Sequence
from unmask.types import ApproximateCache, Mode


class RowSize(NamedTuple):
    """Tokens that a row appends, of these those of a prompt, those of its canvas, and those run again around both."""

    appended: int
    prompt: int
    canvas: int
    around: int = 0

    @property
    def tokens(self) -> int:
        """All of them; a decoding row counts the token it is given."""
        return self.appended + self.canvas + self.around


def row_size(sequence: Sequence, settings: SchedSettings, prefill_left: int) -> RowSize | None:
    """Return how large a sequence's next row is; nothing when it has to pause.

    ``prefill_left`` is how many more prompt tokens this tick may append.
    """
    count = _appended(sequence, settings, prefill_left)
    if count is None:
        return None
    prompt = 0 if sequence.output else count
    if not _has_task(sequence, settings, count):
        return RowSize(count, prompt, 0)
    canvas = _canvas_length(sequence)
    return RowSize(count, prompt, canvas, _around(sequence, count + canvas))


def make_row(sequence: Sequence, settings: SchedSettings, prefill_left: int, mask: int) -> Row | None:
    """Return the row of a sequence, opening its next canvas where one starts; nothing when it has to pause.

    ``prefill_left`` is how many more prompt tokens this tick may append.
    """
    count = _appended(sequence, settings, prefill_left)
    if count is None:
        return None
    if not _has_task(sequence, settings, count):
        return _row(sequence, count, None)
    task = _task(sequence, mask)
    return _row(sequence, count, task, _around(sequence, count + _canvas_length(sequence)))


def _task(sequence: Sequence, mask: int) -> Task:
    match sequence.submission.mode:
        case Mode.DIFFUSION:
            if sequence.canvas is None:
                sequence.canvas = open_canvas(sequence, mask)
                sequence.canvases += 1
            return _canvas_task(sequence, sequence.canvas, mask)
        case Mode.AUTOREGRESSIVE:
            return _decode_task(sequence)
        case Mode.SPECULATIVE:
            return _speculative_task(sequence, mask)
        case _:
            assert_never(sequence.submission.mode)


def _canvas_length(sequence: Sequence) -> int:
    """Return how long the canvas of a step is."""
    match sequence.submission.mode:
        case Mode.DIFFUSION:
            return _next_length(sequence) if sequence.canvas is None else len(sequence.canvas.tokens)
        case Mode.AUTOREGRESSIVE:
            return 0
        case Mode.SPECULATIVE:
            return _drafting_length(sequence)
        case _:
            assert_never(sequence.submission.mode)


def _appended(sequence: Sequence, settings: SchedSettings, prefill_left: int) -> int | None:
    """Return how many tokens the next row appends; nothing where a prompt has to pause."""
    count = len(sequence.pending)
    if sequence.output or not settings.chunked_prefill or not count:
        return count
    return _chunk(sequence.committed, count, settings, prefill_left) or None


def _has_task(sequence: Sequence, settings: SchedSettings, appended: int) -> bool:
    """Tell whether the row that appends so much also takes a step."""
    if appended < len(sequence.pending) or sequence.submission.only_prefills:
        return False
    is_fused = settings.fused_commit if sequence.output else settings.fused_prefill
    return not appended or is_fused or sequence.submission.mode.is_causal


def _chunk(start: int, count: int, settings: SchedSettings, prefill_left: int) -> int:
    """Return how much to append: chunks end at multiples of the chunk size, wherever they start.

    So the same tokens share a forward whether the beginning came from the
    cache or not.
    """
    to_boundary = settings.prefill_tokens - start % settings.prefill_tokens
    wanted = min(count, to_boundary)
    return wanted if wanted <= prefill_left else 0


def _around(sequence: Sequence, own: int) -> int:
    """Return what a step runs beside what it appends and its canvas, ``own`` tokens together."""
    submission = sequence.submission
    if not submission.reads_whole:
        return 0
    if submission.approximate.is_fresh(0 if sequence.canvas is None else sequence.canvas.steps):
        return submission.max_length - own
    is_dual = submission.approximate.cache is ApproximateCache.DUAL
    return 0 if is_dual else submission.max_length - sequence.committed - own


def _row(sequence: Sequence, count: int, task: Task | None, around: int = 0) -> Row:
    return Row(
        sequence=sequence.id,
        start=sequence.committed,
        append=sequence.pending[:count],
        pages=tuple(sequence.pages),
        task=task,
        around=around,
    )


def open_canvas(sequence: Sequence, mask: int) -> Canvas:
    """Return the next canvas: masks, or the request's draft if it is the first."""
    submission = sequence.submission
    done = len(sequence.output)
    length = _next_length(sequence)
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


def _next_length(sequence: Sequence) -> int:
    submission = sequence.submission
    held = len(submission.prompt) + len(sequence.output)
    return min(submission.length_at(held), submission.context_length - held)


def _decode_task(sequence: Sequence) -> DecodeTask:
    submission = sequence.submission
    return DecodeTask(index=len(sequence.output), sampling=submission.sampling, top_logprobs=submission.top_logprobs)


def _speculative_task(sequence: Sequence, mask: int) -> SpeculativeTask:
    return SpeculativeTask(
        draft=sequence.draft,
        tokens=(mask,) * _drafting_length(sequence),
        index=len(sequence.output),
        top_logprobs=sequence.submission.top_logprobs,
    )


def _drafting_length(sequence: Sequence) -> int:
    """Return how long the canvas behind a draft is; nothing is drafted that could not become output.

    Its first position is that of the token which the step itself draws, so that of one position nothing is left.
    """
    submission = sequence.submission
    room = submission.max_tokens - len(sequence.output) - len(sequence.draft)
    return min(submission.canvas_length, room) if room > 1 and sequence.steps_left > 1 else 0


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
        ahead=submission.max_length - len(submission.prompt) - len(sequence.output) - len(canvas.tokens),
    )
