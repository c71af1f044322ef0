"""Laws of reading streams, whatever bytes come and however they are cut."""

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.backend import CommitEvent
from unmask.remote.answer import AnswerReader, Expected
from unmask.remote.chunk import ChunkError, read_chunk
from unmask.remote.errors import UpstreamError
from unmask.remote.retrying import retry_after_s
from unmask.remote.sse import EventEncodingError, EventReader, EventTooLargeError
from unmask.testing.fake_upstream import answer, usage_event

LARGE = 1 << 20
BOUNDS = Expected(
    upstream="u", most_bytes=LARGE, event_bytes=LARGE, max_tokens=64, context_length=256, prompt_tokens=40
)
ENDS = st.sampled_from(["\n", "\r", "\r\n"])
LINES = st.one_of(
    st.sampled_from(["", "data:", "data", "data: [DONE]", ": comment", "event: x", "id: 1"]),
    st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=12).map("data: {}".format),
)
STREAMS = st.lists(st.tuples(LINES, ENDS).map("".join), max_size=12).map(lambda lines: "".join(lines).encode())
CUTS = st.lists(st.integers(0, 400), max_size=12)


def pieces_of(data: bytes, cuts: Iterable[int]) -> list[bytes]:
    """Return the data in pieces, cut at these places."""
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    return [data[start:end] for start, end in pairwise(places)]


def events_of(pieces: Iterable[bytes]) -> list[str]:
    """Return the data of all events."""
    reader = EventReader(LARGE)
    return [event for piece in pieces for event in reader.feed(piece)]


@given(STREAMS, CUTS)
def test_cuts_change_no_event(stream: bytes, cuts: list[int]) -> None:
    """Any split of a stream yields the same events."""
    assert events_of(pieces_of(stream, cuts)) == events_of([stream])


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=30), CUTS, ENDS)
def test_cuts_change_no_answer(text: str, cuts: list[int], end: str) -> None:
    """Any split of an answer yields the same text, in any script, whatever ends its lines."""
    stream = b"".join(answer(text)).replace(b"\n", end.encode())
    reader = AnswerReader(BOUNDS)
    found = [event for piece in pieces_of(stream, cuts) for event in reader.feed(piece)]

    assert "".join(event.text for event in found) == text == reader.text
    assert reader.finish() == "stop"
    assert reader.usage().completion_tokens == 3


def spoiled(stream: bytes, changes: list[tuple[int, int]]) -> bytes:
    """Return the stream with some bytes replaced."""
    data = bytearray(stream)
    for place, value in changes:
        data[place % len(data)] = value
    return bytes(data)


WHOLE = b"".join((*answer("안녕 42")[:-1], usage_event(), b"data: [DONE]\n\n"))
BYTES = st.integers(0, 255)
FIELDS = ["choices", "delta", "content", "finish_reason", "usage", "model", "error", "index", "message", "logprobs"]
RUBBISH = st.one_of(
    st.binary(max_size=300),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4),
        max_leaves=8,
    ).map(lambda value: b"data: " + json.dumps(value).encode() + b"\n\n"),
    st.lists(st.tuples(st.integers(0, len(WHOLE)), BYTES), min_size=1, max_size=6).map(
        lambda changes: spoiled(WHOLE, changes)
    ),
)


@given(RUBBISH, CUTS, st.booleans())
def test_rubbish_raises_typed_errors_only(data: bytes, cuts: list[int], has_logprobs: bool) -> None:
    """Whatever an upstream sends, reading it ends well or in an `UpstreamError` that names it."""
    reader = AnswerReader(replace(BOUNDS, most_bytes=4_000, event_bytes=2_000, has_logprobs=has_logprobs))
    message, found = "upstream u: ", list[CommitEvent]()
    try:
        for piece in pieces_of(data, cuts):
            found += reader.feed(piece)
        reader.finish()
        reader.usage()
    except UpstreamError as error:
        message = error.message

    assert message.startswith("upstream u: ")
    assert "".join(event.text for event in found) == reader.text


@given(st.text(max_size=60))
def test_rubbish_is_no_chunk(text: str) -> None:
    """Text that is no chunk is a `ChunkError`."""
    with suppress(ChunkError):
        assert read_chunk(text).error is None


@given(st.one_of(st.text(max_size=40), st.integers().map(str), st.sampled_from(["Fri, 99 Jan 2027 08:00:00 GMT"])))
def test_retry_after_is_sane(header: str) -> None:
    """Whatever the header says, it is nothing or a time from now to a day."""
    found = retry_after_s(header, 1_800_000_000.0)

    assert found is None or 0 <= found <= 86_400


@pytest.mark.parametrize("data", [b"data: " + b"x" * 200, b"data: 1\n" * 40, b": " + b"x" * 200 + b"\n"])
def test_event_without_end_is_bounded(data: bytes) -> None:
    """An event that never ends is refused once it is too large, in one line or in many."""
    with pytest.raises(EventTooLargeError):
        list(EventReader(100).feed(data))


def test_event_in_another_encoding_is_refused() -> None:
    """What is not UTF-8 is not guessed at."""
    with pytest.raises(EventEncodingError):
        list(EventReader(LARGE).feed("data: 안녕\n\n".encode("euc-kr")))


def test_data_of_several_lines_is_one_event() -> None:
    """Lines of data are joined, and an event without data is none."""
    for end in (b"\n", b"\r", b"\r\n"):
        stream = b"data: a\ndata: b\n\nevent: x\n\ndata\n\n".replace(b"\n", end)
        assert events_of([stream]) == ["a\nb", ""]
        assert events_of(stream[place : place + 1] for place in range(len(stream))) == ["a\nb", ""]
