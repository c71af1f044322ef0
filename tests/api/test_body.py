"""Behaviour of `unmask.api.body`."""

import asyncio
import json

import pytest
from starlette.datastructures import Headers
from starlette.types import Message, Receive

from unmask.api.body import BodyLimits, body_limits, parse_object, read_body
from unmask.api.errors import (
    BodyTimeoutError,
    BodyTooLargeError,
    ClientGoneError,
    EncodingError,
    MalformedBodyError,
)
from unmask.config import Settings

LIMITS = BodyLimits(max_bytes=5, timeout_s=60, min_rate=0)


def chunks(*pieces: bytes, ends: bool = True) -> tuple[Receive, list[bytes]]:
    """Return a connection that sends the pieces, and the list of those it has not sent yet."""
    left = list(pieces)

    async def receive() -> Message:
        if not left:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": left.pop(0), "more_body": bool(left) or not ends}

    return receive, left


async def read(receive: Receive, limits: BodyLimits = LIMITS, **headers: str) -> bytes:
    """Read a body with headers of the test's choice."""
    return await read_body(Headers({name.replace("_", "-"): value for name, value in headers.items()}), receive, limits)


async def test_body_is_put_together() -> None:
    """Pieces arrive as one body, up to the limit exactly."""
    receive, _ = chunks(b"abc", b"", b"de")

    assert await read(receive) == b"abcde"


async def test_reading_stops_at_the_first_byte_too_many() -> None:
    """A body that grows too long is given up, not read to its end."""
    receive, left = chunks(b"abc", b"def", b"ghi")

    with pytest.raises(BodyTooLargeError, match="5 bytes"):
        await read(receive)

    assert left == [b"ghi"]


async def test_declared_length_spares_the_reading() -> None:
    """A body that says it is too long is not read at all."""
    receive, left = chunks(b"abcdef")

    with pytest.raises(BodyTooLargeError):
        await read(receive, content_length="6")

    assert left == [b"abcdef"]


@pytest.mark.parametrize("declared", ["-1", "five", "", "9" * 5000, "2"])
async def test_odd_declared_length_is_left_to_the_count(declared: str) -> None:
    """What arrives is what counts."""
    receive, _ = chunks(b"abc")

    assert await read(receive, content_length=declared) == b"abc"


@pytest.mark.parametrize("encoding", ["gzip", "GZIP", "br", "identity, gzip", "x" * 500])
async def test_compressed_body_is_refused_unread(encoding: str) -> None:
    """Nothing is unpacked: a few bytes may become any number."""
    receive, left = chunks(b"abc")

    with pytest.raises(EncodingError, match=r"content-encoding is .*, allowed: identity\. Send") as caught:
        await read(receive, content_encoding=encoding)

    assert left == [b"abc"]
    assert len(caught.value.message) < 200


@pytest.mark.parametrize("encoding", ["identity", " Identity ", ""])
async def test_body_as_it_is_may_say_so(encoding: str) -> None:
    """To name the absence of an encoding is no mistake."""
    receive, _ = chunks(b"abc")

    assert await read(receive, content_encoding=encoding) == b"abc"


async def test_hanging_up_while_sending_is_told() -> None:
    """Half a body is no request."""
    receive, _ = chunks(b"abc", ends=False)

    with pytest.raises(ClientGoneError):
        await read(receive)


async def silent() -> Message:
    """Bring nothing, ever."""
    await asyncio.Event().wait()
    return {"type": "http.disconnect"}


async def test_body_that_does_not_come_is_given_up() -> None:
    """The whole body has one deadline."""
    with pytest.raises(BodyTimeoutError, match=r"Only 0 bytes .* in 0\.01 s"):
        await read(silent, BodyLimits(max_bytes=5, timeout_s=0.01, min_rate=0))


async def test_body_that_comes_a_byte_at_a_time_is_given_up() -> None:
    """Pieces do not move the deadline."""

    async def drip() -> Message:
        await asyncio.sleep(0.002)
        return {"type": "http.request", "body": b"x", "more_body": True}

    with pytest.raises(BodyTimeoutError):
        await read(drip, BodyLimits(max_bytes=1 << 20, timeout_s=0.05, min_rate=0))


async def test_body_below_the_rate_is_given_up() -> None:
    """Long before the deadline of the whole."""
    with pytest.raises(BodyTimeoutError, match=r"in 0\.01 s"):
        await read(silent, BodyLimits(max_bytes=5, timeout_s=3600, min_rate=100, grace_s=0.01))


def test_time_of_a_body_grows_with_what_it_brings() -> None:
    """Grace first, then a second for each ``min_rate`` bytes, and never more than the whole may take."""
    limits = BodyLimits(max_bytes=5, timeout_s=60, min_rate=100)

    assert [limits.seconds(received) for received in (0, 100, 1_000, 1_000_000)] == [5, 6, 15, 60]


def test_limits_are_the_settings() -> None:
    """Each limit has its setting."""
    settings = Settings(max_body_bytes=2_000, body_timeout_s=7.0, min_body_rate=9)

    assert body_limits(settings) == BodyLimits(max_bytes=2_000, timeout_s=7.0, min_rate=9)


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
