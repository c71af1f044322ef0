"""A sequence's row of the next forward: what it appends, and the canvas or token it works on."""

from dataclasses import replace

import pytest

from unmask.plan import CanvasTask, DecodeTask, Row, SpeculativeTask
from unmask.sched.rows import RowSize, make_row, open_canvas, row_size
from unmask.sched.settings import SchedSettings
from unmask.sequence import Canvas, Sequence
from unmask.strategy import StrategyChoice, StrategyName
from unmask.testing.sequences import make_sequence
from unmask.testing.submissions import make_submission
from unmask.types import ApproximateCache, ApproximateKv, Draft, Mode, Sampling

MASK = 0
SETTINGS = SchedSettings(pages=64, page_size=16, prefill_tokens=32)
PROMPT = tuple(range(100, 180))


def row_of(sequence: Sequence, settings: SchedSettings = SETTINGS, left: int = 1_000) -> Row:
    """Return the sequence's row, which must not pause."""
    row = make_row(sequence, settings, left, MASK)
    assert row is not None
    return row


def waiting_for(prompt: tuple[int, ...], committed: int = 0, mode: Mode = Mode.DIFFUSION) -> Sequence:
    """Return a sequence of which ``committed`` prompt tokens are done."""
    submission = make_submission(prompt, max_tokens=16, mode=mode)
    return make_sequence(submission, pages=[3, 1, 2], committed=committed, pending=prompt[committed:])


@pytest.mark.parametrize(
    ("committed", "length", "appended"),
    [(0, 80, 32), (32, 80, 32), (64, 80, 16), (16, 80, 16), (48, 80, 16), (5, 80, 27), (0, 20, 20), (31, 80, 1)],
)
def test_chunks_end_at_absolute_multiples(committed: int, length: int, appended: int) -> None:
    """A prompt is cut at multiples of the chunk size, wherever the cache lets it start."""
    row = row_of(waiting_for(PROMPT[:length], committed))

    assert (row.start, row.append) == (committed, PROMPT[committed : committed + appended])


def test_a_chunk_is_whole_or_waits() -> None:
    """A chunk that this tick has no room for is not cut smaller: the sequence pauses."""
    sequence = waiting_for(PROMPT)

    assert make_row(sequence, SETTINGS, 31, MASK) is None
    assert len(row_of(sequence, left=32).append) == 32
    assert sequence.canvas is None


def test_a_prompt_goes_in_one_piece_where_chunks_are_off() -> None:
    """Without chunks the whole prompt is appended, whatever the tick's room."""
    row = row_of(waiting_for(PROMPT), replace(SETTINGS, chunked_prefill=False), left=0)

    assert row.append == PROMPT
    assert row.task is not None


def test_only_the_last_chunk_carries_a_canvas() -> None:
    """The first denoise step shares the row of the prompt's end."""
    assert row_of(waiting_for(PROMPT)).task is None
    row = row_of(waiting_for(PROMPT, 64))

    assert row.append == PROMPT[64:]
    assert isinstance(row.task, CanvasTask)


def test_unfused_rows_append_or_denoise() -> None:
    """Where a model cannot do both in a row, the canvas starts a tick later."""
    sequence = waiting_for(PROMPT[:20])
    row = row_of(sequence, replace(SETTINGS, fused_prefill=False))

    assert (row.append, row.task, sequence.canvas) == (PROMPT[:20], None, None)
    sequence.pending = ()
    assert isinstance(row_of(sequence, replace(SETTINGS, fused_prefill=False)).task, CanvasTask)


@pytest.mark.parametrize("fused", [True, False])
def test_a_finished_canvas_is_committed_with_the_next(fused: bool) -> None:
    """It is appended in the row of the next canvas, or in a row of its own; no tick's prompt room is needed."""
    output = list(range(200, 208))
    sequence = make_sequence(
        make_submission((5, 6), max_tokens=16), committed=2, pending=tuple(output), output=output, canvases=1
    )
    row = row_of(sequence, replace(SETTINGS, fused_commit=fused), left=0)

    assert (row.start, row.append) == (2, tuple(output))
    assert isinstance(row.task, CanvasTask) == fused
    assert sequence.canvases == 1 + fused


def test_an_open_canvas_goes_on() -> None:
    """A canvas between steps is denoised with what is known of it."""
    canvas = Canvas(tokens=(9, 0), limit=2, max_steps=5, steps=3, frozen=frozenset({0}), state="kept")
    strategy, sampling = StrategyChoice(name=StrategyName.KLASS), Sampling(seed=3)
    submission = make_submission(max_tokens=16, strategy=strategy, sampling=sampling, snapshots=True)
    row = row_of(make_sequence(submission, pending=(), committed=3, canvas=canvas, canvases=2))

    assert row.append == ()
    assert row.task == CanvasTask(
        tokens=(9, 0),
        asked=(0, 1),
        index=1,
        step=3,
        steps_left=2,
        limit=2,
        frozen=frozenset({0}),
        strategy=strategy,
        sampling=sampling,
        state="kept",
        trace=True,
        ahead=14,
    )


@pytest.mark.parametrize(("traced", "asked"), [(False, (1, 2)), (True, (0, 1, 2, 3))])
def test_only_what_is_looked_at_is_asked_for(traced: bool, asked: tuple[int, ...]) -> None:
    """Logits are wanted where the canvas is open; a trace looks everywhere."""
    canvas = Canvas(tokens=(9, MASK, MASK, 8), limit=4, max_steps=5)
    row = row_of(make_sequence(make_submission(trace=traced), pending=(), committed=3, canvas=canvas, canvases=1))

    assert isinstance(row.task, CanvasTask)
    assert row.task.asked == asked


@pytest.mark.parametrize(("steps", "asked"), [(0, (0, 1, 2, 3)), (1, (1, 2))])
def test_what_a_draft_gives_is_asked_for_once(steps: int, asked: tuple[int, ...]) -> None:
    """Where log-probabilities are wanted, the first step looks at the draft's tokens too, and no later one does."""
    canvas = Canvas(tokens=(9, MASK, MASK, 8), limit=4, max_steps=5, steps=steps)
    submission = make_submission(top_logprobs=3)
    row = row_of(make_sequence(submission, pending=(), committed=3, canvas=canvas, canvases=1))

    assert isinstance(row.task, CanvasTask)
    assert (row.task.asked, row.task.top_logprobs, row.task.trace) == (asked, 3, False)


def test_decoding_asks_for_log_probabilities_where_wanted() -> None:
    """A token to draw carries the wish as a canvas does."""
    submission = make_submission(max_tokens=16, mode=Mode.AUTOREGRESSIVE, top_logprobs=0)

    assert row_of(make_sequence(submission)).task == DecodeTask(index=0, sampling=Sampling(), top_logprobs=0)


def test_decoding_appends_and_draws() -> None:
    """An autoregressive row draws a token after its last prompt chunk, then after each token."""
    sequence = waiting_for(PROMPT, 64, mode=Mode.AUTOREGRESSIVE)
    row = row_of(sequence)
    assert (row.append, row.task) == (PROMPT[64:], DecodeTask(index=0, sampling=Sampling()))

    sequence.committed, sequence.pending, sequence.output = 80, (7,), [7]
    row = row_of(sequence, left=0)
    assert (row.start, row.append, row.task) == (80, (7,), DecodeTask(index=1, sampling=Sampling()))


def test_speculation_verifies_its_draft_and_drafts_on() -> None:
    """Behind the prompt a canvas drafts; later the draft is appended behind the token before it."""
    sequence = waiting_for(PROMPT, 64, mode=Mode.SPECULATIVE)
    row = row_of(sequence)
    assert (row.append, row.task) == (PROMPT[64:], SpeculativeTask(draft=(), tokens=(MASK,) * 8, index=0))

    sequence.committed, sequence.output, sequence.draft, sequence.pending = 80, [7], (8, 9), (7, 8, 9)
    row = row_of(sequence, left=0)
    assert (row.start, row.append) == (80, (7, 8, 9))
    assert row.task == SpeculativeTask(draft=(8, 9), tokens=(MASK,) * 8, index=1)
    assert row_size(sequence, SETTINGS, 0) == RowSize(3, 0, 8)


@pytest.mark.parametrize(
    ("written", "draft", "steps", "length"), [(24, 0, 0, 6), (24, 4, 0, 2), (24, 5, 0, 0), (28, 0, 0, 2), (9, 0, 29, 0)]
)
def test_nothing_is_drafted_that_cannot_become_output(written: int, draft: int, steps: int, length: int) -> None:
    """A canvas ends with the output, and there is none before the last token or the last step."""
    submission = make_submission(mode=Mode.SPECULATIVE, max_tokens=30, max_total_steps=30)
    drafted = (8,) * draft
    sequence = make_sequence(submission, output=[7] * written, steps=steps, draft=drafted, pending=(7, *drafted))

    task = row_of(sequence).task
    assert isinstance(task, SpeculativeTask)
    assert len(task.tokens) == length


def canvas_of(sequence: Sequence) -> Canvas:
    """Open the sequence's next canvas."""
    return open_canvas(sequence, MASK)


def test_a_canvas_opens_masked() -> None:
    """A canvas starts with a mask everywhere and the steps of its budget."""
    canvas = canvas_of(make_sequence(make_submission(max_tokens=20, max_steps=6)))

    assert canvas == Canvas(tokens=(MASK,) * 8, limit=8, max_steps=6)


def test_the_last_canvas_counts_what_may_still_become_output() -> None:
    """A canvas takes its full length, its limit is what is left of the output."""
    canvas = canvas_of(make_sequence(make_submission(max_tokens=20), output=[9] * 16))

    assert (len(canvas.tokens), canvas.limit) == (8, 4)


def test_a_canvas_is_cut_where_the_context_ends() -> None:
    """A canvas that would not fit into the context is shorter."""
    canvas = canvas_of(make_sequence(make_submission(tuple(range(245)), max_tokens=11), output=[9] * 8))

    assert (len(canvas.tokens), canvas.limit) == (3, 3)


def test_a_canvas_takes_no_more_than_is_left_of_the_total() -> None:
    """What earlier canvases used of the total is gone; what they saved is there."""
    submission = make_submission(max_tokens=24, max_steps=6, max_total_steps=10)

    assert canvas_of(make_sequence(submission, steps=2)).max_steps == 6
    assert canvas_of(make_sequence(submission, steps=7)).max_steps == 3


def test_a_draft_starts_the_first_canvas_alone() -> None:
    """Its tokens stand where given, masks where open and behind; the second canvas starts empty."""
    draft = Draft(tokens=(5, None, 7), frozen=frozenset({0}))
    submission = make_submission(max_tokens=16, draft=draft)

    canvas = canvas_of(make_sequence(submission))
    assert canvas.tokens == (5, MASK, 7, MASK, MASK, MASK, MASK, MASK)
    assert canvas.frozen == {0}
    assert canvas_of(make_sequence(submission, output=[9] * 8)) == Canvas(tokens=(MASK,) * 8, limit=8, max_steps=4)


def test_a_draft_is_cut_with_its_canvas() -> None:
    """Where the context cuts the canvas, the draft's end and what is frozen there are cut too."""
    draft = Draft(tokens=tuple(range(2, 10)), frozen=frozenset({1, 7}))
    canvas = canvas_of(make_sequence(make_submission(tuple(range(251)), max_tokens=5, draft=draft)))

    assert canvas.tokens == (2, 3, 4, 5, 6)
    assert canvas.frozen == {1}


@pytest.mark.parametrize(
    ("prompt", "written", "length", "ahead"), [(6, 0, 2, 8), (6, 2, 4, 4), (6, 6, 4, 0), (8, 0, 4, 8)]
)
def test_canvases_on_a_grid_end_at_multiples(prompt: int, written: int, length: int, ahead: int) -> None:
    """A canvas that starts within a block ends with it, and knows how many positions may come behind it."""
    submission = make_submission((7,) * prompt, max_tokens=10, canvas_length=4, on_grid=True)
    row = row_of(make_sequence(submission, committed=prompt + written, output=[9] * written))

    assert isinstance(row.task, CanvasTask)
    assert (len(row.task.tokens), row.task.ahead) == (length, ahead)


def test_a_step_over_the_whole_sequence_counts_all_of_it() -> None:
    """What is known of a row before it is made is what it brings: context, canvas and masks behind it, each step."""
    submission = make_submission((7,) * 20, max_tokens=24, canvas_length=8, reads_whole=True, max_steps=4)
    cases = (
        make_sequence(submission, pending=submission.prompt),
        make_sequence(submission, committed=20, pending=()),
        make_sequence(submission, committed=20, pending=(9,) * 8, output=[9] * 8),
    )
    for sequence in cases:
        size = row_size(sequence, SETTINGS, 1_000)
        row = row_of(sequence)
        assert isinstance(row.task, CanvasTask)
        assert size is not None
        assert size.tokens == row.tokens == submission.max_length == 44
        assert row.tokens == row.start + len(row.append) + len(row.task.tokens) + row.task.ahead
    assert submission.most_tokens == 44 + 12 * 44


@pytest.mark.parametrize(("cache", "later"), [(ApproximateCache.PREFIX, 24), (ApproximateCache.DUAL, 8)])
def test_a_step_counts_what_an_approximate_cache_leaves_of_it(cache: ApproximateCache, later: int) -> None:
    """All at the first step of a canvas and where it is computed anew; else the canvas, or the masks behind it too."""
    kept = ApproximateKv(cache=cache, refresh=2)
    submission = make_submission((7,) * 20, max_tokens=24, canvas_length=8, reads_whole=True, max_steps=4)
    submission = replace(submission, approximate=kept)
    sequence = make_sequence(submission, pending=submission.prompt)
    counts = []
    for step in range(4):
        size, row = row_size(sequence, SETTINGS, 1_000), row_of(sequence)
        assert size is not None
        assert size.tokens == row.tokens
        counts.append(row.tokens)
        sequence.committed, sequence.pending = 20, ()
        assert sequence.canvas is not None
        sequence.canvas.steps = step + 1

    assert counts == [44, later, 44, later]
    assert submission.most_tokens >= 44 + 3 * sum(counts)


def test_a_prompt_that_is_only_appended_runs_nothing_again() -> None:
    """A chunk without a step counts what it appends."""
    submission = make_submission((7,) * 80, max_tokens=8, canvas_length=8, reads_whole=True)
    row = row_of(make_sequence(submission, pending=submission.prompt))

    assert (row.task, row.tokens) == (None, 32)
