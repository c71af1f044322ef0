"""A tick's results in the books of a sequence."""

from dataclasses import replace

import pytest

from unmask.plan import CanvasResult, Row, StepResult, TokenResult
from unmask.sched.ending import Writer
from unmask.sched.progress import apply_append, apply_result
from unmask.sequence import Canvas, Sequence
from unmask.testing.fixed_tokens import make_fixed
from unmask.testing.networks import TINY_ADAPTER, letter, spell
from unmask.testing.sequences import make_sequence
from unmask.testing.submissions import make_submission
from unmask.types import ExitReason, FinishReason, Mode, Outcome, StepTrace

END = TINY_ADAPTER.end
WRITER = Writer(end=END, token_bytes=letter)


def book(sequence: Sequence, result: StepResult | None) -> bool:
    """Write a result into a sequence; tell whether its output grew."""
    return apply_result(sequence, result, WRITER)


def canvas_result(tokens: list[int], *, finished: bool = True, converged: bool = True) -> CanvasResult:
    """Return a canvas after a step."""
    return CanvasResult(tokens=tuple(tokens), finished=finished, converged=converged, state="kept", record=None)


def denoising(*, steps: int = 2, max_steps: int = 4, total: int = 8, used: int = 2, max_tokens: int = 16) -> Sequence:
    """Return a sequence whose first canvas has taken ``steps``."""
    submission = make_submission(max_tokens=max_tokens, max_steps=4, max_total_steps=total)
    canvas = Canvas(tokens=(0,) * 8, limit=8, max_steps=max_steps, steps=steps)
    return make_sequence(submission, canvas=canvas, canvases=1, steps=used, pending=(), committed=3)


@pytest.mark.parametrize(("output", "prefill", "commit"), [([], 2, 0), ([9], 0, 2)])
def test_appended_tokens_are_booked_by_what_they_are(output: list[int], prefill: int, commit: int) -> None:
    """Before there is output they are prompt, afterwards finished canvases."""
    sequence = make_sequence(pending=(5, 6, 7), output=output, committed=10)
    apply_append(sequence, Row(sequence=1, start=10, append=(5, 6), pages=(), task=None))

    assert (sequence.committed, sequence.pending) == (12, (7,))
    assert (sequence.prefill_tokens, sequence.commit_tokens) == (prefill, commit)


def test_a_row_without_result_changes_nothing() -> None:
    """Appending alone is no step."""
    sequence = make_sequence()

    assert not book(sequence, None)
    assert sequence.steps == 0


def test_an_open_canvas_is_kept_for_the_next_step() -> None:
    """Tokens and state are remembered, the step is counted in canvas and request."""
    sequence = denoising()

    assert not book(sequence, canvas_result([9, 0, 0, 0, 0, 0, 0, 0], finished=False))
    assert sequence.canvas == Canvas(tokens=(9,) + (0,) * 7, limit=8, max_steps=4, steps=3, state="kept")
    assert (sequence.steps, sequence.outcome, sequence.output) == (3, None, [])


def test_a_finished_canvas_becomes_output_and_waits_to_be_committed() -> None:
    """Where the text goes on, its tokens are what the next row appends."""
    sequence = denoising()

    assert book(sequence, canvas_result([9] * 8))
    assert (sequence.canvas, sequence.output, sequence.pending) == (None, [9] * 8, (9,) * 8)
    assert (sequence.text, sequence.outcome) == (spell([9] * 8), None)


def test_an_end_token_completes() -> None:
    """The output ends with it, and nothing waits to be committed."""
    sequence = denoising()

    assert book(sequence, canvas_result([9, 9, END, END, END, END, END, END]))
    assert (sequence.outcome, sequence.finish_reason) == (Outcome.COMPLETED, FinishReason.STOP)
    assert (sequence.output, sequence.text, sequence.pending) == ([9, 9, END], spell([9, 9]), ())


def test_max_tokens_completes() -> None:
    """The output is cut at exactly ``max_tokens``."""
    sequence = denoising(max_tokens=5)
    book(sequence, canvas_result([9] * 8))

    assert (sequence.finish_reason, sequence.output) == (FinishReason.LENGTH, [9] * 5)


def test_a_spent_total_completes_though_the_text_is_not_over() -> None:
    """Without steps for another canvas the text is cut, and the total is why."""
    sequence = denoising(total=3)
    book(sequence, canvas_result([9] * 8))

    assert (sequence.outcome, sequence.finish_reason) == (Outcome.COMPLETED, FinishReason.LENGTH)
    assert (sequence.exit_reason, sequence.pending) == (ExitReason.MAX_TOTAL_STEPS, ())


def test_a_spent_total_does_not_hide_a_stop() -> None:
    """A text that reached its end with the last step of the total was not cut."""
    sequence = denoising(total=3)
    book(sequence, canvas_result([9] + [END] * 7))

    assert (sequence.finish_reason, sequence.exit_reason) == (FinishReason.STOP, ExitReason.CONVERGED)


@pytest.mark.parametrize(
    ("converged", "max_steps", "reason"),
    [(True, 4, ExitReason.CONVERGED), (False, 4, ExitReason.MAX_STEPS), (False, 3, ExitReason.MAX_TOTAL_STEPS)],
)
def test_the_exit_reason_says_what_stopped_the_last_canvas(converged: bool, max_steps: int, reason: ExitReason) -> None:
    """It converged, used its own budget, or what was left of the request's."""
    sequence = denoising(max_steps=max_steps)
    book(sequence, canvas_result([9] + [END] * 7, converged=converged))

    assert sequence.exit_reason is reason


def test_a_decoded_token_is_a_step_and_output() -> None:
    """Autoregressive tokens are counted as steps and appended by the next row."""
    sequence = make_sequence(make_submission(max_tokens=3, max_total_steps=3, mode=Mode.AUTOREGRESSIVE))

    assert book(sequence, TokenResult(token=9))
    assert (sequence.steps, sequence.output, sequence.pending, sequence.outcome) == (1, [9], (9,), None)
    assert book(sequence, TokenResult(token=END))
    assert (sequence.output, sequence.finish_reason) == ([9, END], FinishReason.STOP)


@pytest.mark.parametrize("trace", [True, False])
def test_records_are_kept_only_for_a_trace(trace: bool) -> None:
    """A snapshot shows the last step; a trace keeps them all."""
    sequence = denoising(max_steps=3)
    sequence.submission = make_submission(max_tokens=16, trace=trace, snapshots=True)
    record = StepTrace(canvas=0, step=2, max_steps=3, draft=(9,), fixed=(True,), confidence=(0.5,), entropy=(0.1,))
    book(sequence, CanvasResult(tokens=(0,) * 8, finished=False, converged=False, state=None, record=record))

    assert sequence.last_step == record
    assert sequence.trace == ([record] if trace else [])


def test_a_token_keeps_what_the_last_step_to_fix_it_said() -> None:
    """Log-probabilities are gathered over the steps of a canvas; a position that was fixed again has the later one."""
    sequence = denoising()
    sequence.submission = make_submission(max_tokens=16, max_total_steps=8, top_logprobs=0)
    said = [make_fixed(token, 0) for token in range(16)]
    first, second = canvas_result([2, 3, *[0] * 6], finished=False), canvas_result([2, 5, *range(6, 12)])
    book(sequence, replace(first, logprobs=(said[2], said[3], *[None] * 6)))
    assert sequence.logprobs == []
    book(sequence, replace(second, logprobs=(None, said[5], *said[6:12])))

    assert [token.fixed for token in sequence.logprobs] == [said[2], *said[5:12]]


def test_a_decoded_token_keeps_what_its_step_said() -> None:
    """The end token has no text and no log-probability."""
    submission = make_submission(max_tokens=3, max_total_steps=3, mode=Mode.AUTOREGRESSIVE, top_logprobs=1)
    sequence = make_sequence(submission)
    book(sequence, TokenResult(token=9, logprobs=make_fixed(9, 1)))
    book(sequence, TokenResult(token=END, logprobs=make_fixed(END, 1)))

    assert [(token.start, token.fixed) for token in sequence.logprobs] == [(0, make_fixed(9, 1))]
