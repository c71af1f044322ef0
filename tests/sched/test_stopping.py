"""Behaviour of `unmask.sched.stopping`: an answer that is complete ends there."""

import pytest

from unmask.plan import CanvasResult
from unmask.sched.ending import Writer
from unmask.sched.progress import apply_result
from unmask.sched.stopping import with_stop
from unmask.sequence import Canvas, Sequence
from unmask.testing.sequences import make_sequence
from unmask.testing.submissions import make_submission
from unmask.types import DraftCheck, ExitReason, FinishReason, Outcome

MASK, END = 0, 1
PIECES = {2: b"Hi", 3: b".", 4: b" So", 5: b"\xea\xb0", 6: b"\x80", 7: b"\xe3\x80\x82"}
WRITER = Writer(end=END, token_bytes=lambda token: PIECES.get(token, b""))


class Judge:
    """Finds one text complete, and remembers what it was asked."""

    def __init__(self, wanted: str) -> None:
        self.wanted = wanted
        self.texts: list[str] = []

    def __call__(self, text: str) -> bool:
        """Return whether it is that text."""
        self.texts.append(text)
        return text == self.wanted


def broken(text: str) -> bool:
    """Fail to judge."""
    raise ZeroDivisionError


def denoising(complete: DraftCheck | None, *, limit: int = 6) -> Sequence:
    """Return a sequence whose canvas of six has been through a step."""
    submission = make_submission(max_tokens=12, canvas_length=6, complete=complete)
    canvas = Canvas(tokens=(MASK,) * 6, limit=limit, max_steps=6, steps=1)
    return make_sequence(submission, canvas=canvas, canvases=1, steps=1, pending=())


def stepped(sequence: Sequence, *tokens: int, finished: bool = False) -> CanvasResult:
    """Return what becomes of the canvas after a step that leaves these tokens."""
    result = CanvasResult(tokens=tokens, finished=finished, converged=finished, state=None, record=None)
    return with_stop(sequence, result, WRITER, MASK)


def test_an_answer_ends_behind_the_sentence_that_completes_it() -> None:
    """The rest of the canvas is end tokens, whatever was revealed of it; its text, steps and reason say so."""
    judge = Judge("Hi.")
    sequence = denoising(judge)
    found = stepped(sequence, 2, 3, 4, MASK, 2, MASK)
    apply_result(sequence, found, WRITER)

    assert found.tokens == (2, 3, END, END, END, END)
    assert (sequence.text, sequence.steps, sequence.output) == ("Hi.", 2, [2, 3, END])
    assert (sequence.outcome, sequence.finish_reason) == (Outcome.COMPLETED, FinishReason.STOP)
    assert sequence.exit_reason is ExitReason.COMPLETE
    assert judge.texts == ["Hi."]


def test_only_what_is_revealed_from_the_start_is_looked_at_and_once() -> None:
    """A sentence behind a mask says nothing yet, and one that was found wanting is not judged again."""
    judge = Judge("never")
    sequence = denoising(judge)
    for tokens in ((MASK, 2, 3, MASK, MASK, MASK), (2, 3, MASK, 3, MASK, MASK), (2, 3, 4, 3, MASK, MASK)):
        assert not stepped(sequence, *tokens).finished

    assert judge.texts == ["Hi.", "Hi. So."]


def test_a_finished_canvas_is_trimmed_and_no_other_one_begins() -> None:
    """What it holds behind the point is not committed."""
    sequence = denoising(Judge("Hi."))
    found = stepped(sequence, 2, 3, 4, 4, 4, 4, finished=True)
    apply_result(sequence, found, WRITER)

    assert (sequence.text, sequence.outcome, sequence.exit_reason) == ("Hi.", Outcome.COMPLETED, ExitReason.COMPLETE)


def test_an_answer_may_be_complete_with_the_last_token_of_its_canvas() -> None:
    """There is no room for an end token, and none is needed."""
    sequence = denoising(Judge("Hi Hi Hi Hi Hi.".replace(" ", "")))
    found = stepped(sequence, 2, 2, 2, 2, 2, 3, finished=True)
    apply_result(sequence, found, WRITER)

    assert (sequence.outcome, sequence.finish_reason) == (Outcome.COMPLETED, FinishReason.STOP)
    assert sequence.output == [2, 2, 2, 2, 2, 3]


def test_sentences_end_with_the_marks_of_every_script_and_whole_characters() -> None:
    """A character that is not there yet ends none."""
    judge = Judge("가。")
    found = stepped(denoising(judge), 5, 6, 7, MASK, MASK, MASK)

    assert found.completed
    assert judge.texts == ["가。"]


@pytest.mark.parametrize("check", [None, broken, Judge("other")])
def test_what_nobody_finds_complete_goes_on(check: DraftCheck | None) -> None:
    """A check that breaks has found nothing, and ends no other request."""
    found = stepped(denoising(check), 2, 3, MASK, MASK, MASK, MASK)

    assert (found.finished, found.completed, found.tokens[:2]) == (False, False, (2, 3))
