"""Behaviour of `unmask.api.body`."""

import json

import pytest
from starlette.types import Message, Receive

from unmask.api.body import parse_object, read_body
from unmask.api.errors import BodyTooLargeError, ClientGoneError, MalformedBodyError


def chunks(*pieces: bytes, ends: bool = True) -> tuple[Receive, list[bytes]]:
    """Return a connection that sends the pieces, and the list of those it has not sent yet."""
    left = list(pieces)

    async def receive() -> Message:
        if not left:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": left.pop(0), "more_body": bool(left) or not ends}

    return receive, left


async def test_body_is_put_together() -> None:
    """Pieces arrive as one body, up to the limit exactly."""
    receive, _ = chunks(b"abc", b"", b"de")

    assert await read_body(receive, 5, None) == b"abcde"


async def test_reading_stops_at_the_first_byte_too_many() -> None:
    """A body that grows too long is given up, not read to its end."""
    receive, left = chunks(b"abc", b"def", b"ghi")

    with pytest.raises(BodyTooLargeError, match="5 bytes"):
        await read_body(receive, 5, None)

    assert left == [b"ghi"]


async def test_declared_length_spares_the_reading() -> None:
    """A body that says it is too long is not read at all."""
    receive, left = chunks(b"abcdef")

    with pytest.raises(BodyTooLargeError):
        await read_body(receive, 5, "6")

    assert left == [b"abcdef"]


@pytest.mark.parametrize("declared", ["-1", "five", "", "9" * 5000, "2"])
async def test_odd_declared_length_is_left_to_the_count(declared: str) -> None:
    """What arrives is what counts."""
    receive, _ = chunks(b"abc")

    assert await read_body(receive, 5, declared) == b"abc"


async def test_hanging_up_while_sending_is_told() -> None:
    """Half a body is no request."""
    receive, _ = chunks(b"abc", ends=False)

    with pytest.raises(ClientGoneError):
        await read_body(receive, 5, None)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b'{"a": NaN}',
        b'{"a": Infinity}',
        b'{"a": 1e999}',
        b"{'a': 1}",
        b'{"a": 1} {}',
        b'{"a": "\xff"}',
        b'{"a": "\\ud800"}',
        b'\xef\xbb\xbf{"a": 1}',
        '{"a": 1}'.encode("utf-16"),
        b"[" * 100_000,
        b'{"a":' * 2000 + b"1" + b"}" * 2000,
    ],
)
def test_what_is_not_json_is_refused(raw: bytes) -> None:
    """Cut, non-standard, wrongly encoded or bottomless bodies are one kind of error."""
    with pytest.raises(MalformedBodyError):
        parse_object(raw)


@pytest.mark.parametrize(
    ("raw", "kind"),
    [(b"[1, 2]", "array"), (b"null", "null"), (b"true", "boolean"), (b"1.5", "number"), (b'"a"', "string")],
)
def test_other_json_is_refused_by_its_kind(raw: bytes, kind: str) -> None:
    """The body is an object; the message says what was sent in its place."""
    with pytest.raises(MalformedBodyError, match=kind):
        parse_object(raw)


@pytest.mark.parametrize(
    "raw", [b'{"a": 1, "a": 1}', b'{"b": [{"a": 1, "\\u0061": 2}]}', '{"가": 1, "가": 2}'.encode()]
)
def test_key_twice_is_refused(raw: bytes) -> None:
    """Of two values of one key neither is silently dropped, at any depth and however written."""
    with pytest.raises(MalformedBodyError, match="twice"):
        parse_object(raw)


def test_same_key_in_different_objects_is_fine() -> None:
    """Messages all have the same keys."""
    body = {"messages": [{"role": "user"}, {"role": "user"}], "role": 1}

    assert parse_object(json.dumps(body).encode()) == body


@pytest.mark.parametrize("depth", [100, 500, 1000])
def test_depth_is_parsed_or_refused(depth: int) -> None:
    """A deep body is an object or an error, never a crash."""
    raw = b'{"a":' * depth + b"1" + b"}" * depth
    try:
        assert list(parse_object(raw)) == ["a"]
    except MalformedBodyError as error:
        assert "deep" in str(error)  # noqa: PT017 - either outcome is right


def test_hangul_survives() -> None:
    """Text outside ASCII arrives as it was sent, escaped or not."""
    assert parse_object('{"a": "안녕하세요"}'.encode()) == parse_object(json.dumps({"a": "안녕하세요"}).encode())


def test_long_number_is_kept_as_json_has_it() -> None:
    """A number of thousands of digits is no reason to fail here; its field will refuse it."""
    try:
        parse_object(b'{"seed": ' + b"9" * 300 + b"}")
    except MalformedBodyError:
        pytest.fail("a long number is JSON")
