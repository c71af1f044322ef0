"""Behaviour of `unmask.control.reopen`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.backend import Generation
from unmask.control.reopen import NEIGHBOURS, REACH, reopened
from unmask.tasks.span import Span
from unmask.testing.attempts import END, say
from unmask.types import Draft

LENGTH = 32


def opened(draft: Draft | None) -> list[int]:
    """Return the open positions of a draft."""
    assert draft is not None
    assert draft.frozen == {place for place, token in enumerate(draft.tokens) if token is not None}
    return [place for place, token in enumerate(draft.tokens) if token is None]


def test_span_and_its_least_confident_neighbours_are_open() -> None:
    """The rest stands, the end token included, and may not be reopened by a strategy."""
    confidence = [-0.1] * 24
    confidence[3] = confidence[8] = confidence[14] = confidence[13] = -2.0
    confidence[23] = -9.0
    generation = say(["ab"] * 24, confidence)

    draft = reopened(generation, LENGTH, Span(start=21, end=24))

    assert opened(draft) == [3, 8, 10, 11, 13, 14]
    assert draft is not None
    assert draft.tokens[-1] == END
    assert draft.before == ()


def test_span_at_the_end_takes_the_end_token_with_it() -> None:
    """What is missing needs room."""
    draft = reopened(say(["a", "b", "c", "d"], [-0.1, -0.1, -0.1, -0.1]), LENGTH, Span(start=3, end=4))

    assert 4 in opened(draft)


def test_everything_from_the_span_on_may_be_opened() -> None:
    """The second time."""
    draft = reopened(say(["a"] * 12), LENGTH, Span(start=6, end=7), to_end=True)

    assert opened(draft) == [*range(4, 13)]


def test_canvases_before_stand_and_those_behind_are_made_again() -> None:
    """A span that reaches into the next canvas is reopened in the first."""
    generation = say([chr(97 + place) for place in range(20)])

    draft = reopened(generation, 8, Span(start=14, end=18))

    assert draft is not None
    assert draft.before == generation.tokens[:8]
    assert len(draft.tokens) == 8
    assert {6, 7} <= set(opened(draft))


def test_without_a_span_the_least_confident_quarter_is_open() -> None:
    """Of the canvas that holds the least confident token."""
    confidence = [-0.1] * 16
    confidence[1], confidence[10], confidence[13] = -1.0, -3.0, -2.0

    draft = reopened(say(["a"] * 16, confidence), 8, None)

    assert draft is not None
    assert (len(draft.before), opened(draft)) == (8, [2, 5])


def test_characters_of_several_tokens_are_reopened_whole() -> None:
    """A part of one is no text."""
    first, second, third = (bytes([byte]) for byte in "가".encode())
    generation = say(["ab", first, second, third, "cd"])

    draft = reopened(generation, LENGTH, Span(start=2, end=3))

    assert draft is not None
    assert all(draft.tokens[place] is None for place in (1, 2, 3))


def test_answers_without_log_probabilities_cannot_be_reopened() -> None:
    """Nobody can tell which tokens the span is."""
    assert reopened(say(["a", "b"], logprobs=()), LENGTH, Span(start=0, end=1)) is None


@pytest.mark.parametrize("to_end", [False, True])
@given(
    words=st.lists(st.sampled_from(["a", "bc", " ", "가", b"\xea", b"\xb0\x80"]), min_size=1, max_size=40),
    length=st.sampled_from([4, 8, 32]),
    data=st.data(),
)
def test_draft_is_of_one_canvas_and_opens_something(
    words: list[str | bytes], length: int, data: st.DataObject, *, to_end: bool
) -> None:
    """Whatever the text and the span, what is kept is what was there, and reopening stays near."""
    generation = say(words, data.draw(st.lists(st.floats(-5, 0), min_size=len(words), max_size=len(words))))
    start = data.draw(st.integers(0, max(0, len(generation.text) - 1)))
    span = data.draw(
        st.none() | st.integers(start + 1, len(generation.text) + 1).map(lambda end: Span(start=start, end=end))
    )

    draft = reopened(generation, length, span, to_end=to_end)

    assert draft is not None
    assert len(draft.before) % length == 0
    assert draft.before == generation.tokens[: len(draft.before)]
    assert len(draft.tokens) <= length
    assert opened(draft)
    kept = generation.tokens[len(draft.before) :]
    assert all(token in (None, kept[place]) for place, token in enumerate(draft.tokens))
    if span is not None and not to_end and span.end < len(generation.text):
        check_near(draft, generation, span)


def check_near(draft: Draft, generation: Generation, span: Span) -> None:
    """Check that no more than a few tokens beside the span are open."""
    size = len(generation.text[span.start : span.end].encode()) + 2
    assert len(opened(draft)) <= size + NEIGHBOURS
    assert max(opened(draft)) - min(opened(draft)) <= size + 2 * REACH
