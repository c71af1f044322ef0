"""Votes among the drafts of one run."""

from collections.abc import Sequence

from unmask.backend import Generation
from unmask.search.drafts import voted
from unmask.testing.builders import make_generation
from unmask.types import StepTrace


def traced(texts: Sequence[str], *, canvas: int = 0, ends: bool = True) -> tuple[StepTrace, ...]:
    """Return a canvas's steps by the texts of their drafts."""
    return tuple(
        StepTrace(
            canvas=canvas,
            step=step,
            max_steps=len(texts),
            draft=(10 + step,),
            fixed=(True,),
            confidence=(0.5,),
            entropy=(0.1,),
            data=text.encode(),
            ends=ends,
        )
        for step, text in enumerate(texts)
    )


def run(*texts: str) -> Generation:
    """Return a run of one canvas."""
    return make_generation(texts[-1], tokens=(9,), trace=traced(texts))


def test_what_most_drafts_say_is_taken() -> None:
    """A last step that changes everything is outvoted."""
    found = voted(run("가", "나", "나", "나", "다"), None)
    assert (found.text, found.tokens, found.logprobs) == ("나", (13,), ())


def test_late_drafts_count_for_more() -> None:
    """Two early ones do not outvote the last two, and the run keeps its own tokens."""
    assert voted(run("가", "가", "나", "나"), None).text == "나"
    assert voted(run("가", "가", "나", "나"), None).tokens == (9,)


def test_a_draft_that_passes_beats_any_majority() -> None:
    """The verifier knows better than the drafts."""
    assert voted(run("맞음", "틀림", "틀림"), lambda text: text == "맞음").text == "맞음"


def test_without_a_trace_a_run_stays_as_it_is() -> None:
    """And so does one whose drafts say nothing whole."""
    bare = make_generation("하나")
    unfinished = make_generation("하나", trace=traced(["둘", "둘"], ends=False))
    assert voted(bare, None) == bare
    assert voted(unfinished, None) == unfinished


def test_drafts_stand_behind_earlier_canvases_and_are_cut_at_stop_sequences() -> None:
    """A character may begin in one canvas and end in the next."""
    first, second = "한".encode()[:2], "한".encode()[2:]
    earlier = traced(["x"], ends=False)[0]
    broken = StepTrace(**{name: getattr(earlier, name) for name in StepTrace.__slots__} | {"data": first})
    last = tuple(
        StepTrace(**{name: getattr(one, name) for name in StepTrace.__slots__} | {"data": second + data})
        for one, data in zip(traced(["", "", "", ""], canvas=1), [b"!", b"!", b"! END x", b"?"], strict=True)
    )
    found = voted(make_generation("한?", trace=(broken, *last)), None, stop=(" END",))
    assert found.text == "한!"
