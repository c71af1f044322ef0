"""Bytes that come in: a bounded body, and one JSON object in it."""

import asyncio
import json
from dataclasses import dataclass
from typing import Never

import orjson
from starlette.datastructures import Headers
from starlette.types import Receive

from unmask.api.errors import (
    BodyTimeoutError,
    BodyTooLargeError,
    ClientGoneError,
    EncodingError,
    MalformedBodyError,
)
from unmask.config import Settings

_LONGEST_NUMBER = 19
"""A ``content-length`` of more digits is left to the count of what arrives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyLimits:
    """Most bytes of a body, and how long they may take: ``timeout_s`` in all, and ``min_rate`` bytes a second.

    The rate counts once ``grace_s`` have passed; 0 asks for none.
    """

    max_bytes: int
    timeout_s: float
    min_rate: int
    grace_s: float = 5.0

    def seconds(self, received: int) -> float:
        """Return how long after its beginning a body may wait for more, having brought ``received`` bytes."""
        if not self.min_rate:
            return self.timeout_s
        return min(self.timeout_s, self.grace_s + received / self.min_rate)


def body_limits(settings: Settings) -> BodyLimits:
    """Return the limits that the settings ask for."""
    return BodyLimits(
        max_bytes=settings.max_body_bytes, timeout_s=settings.body_timeout_s, min_rate=settings.min_body_rate
    )


async def read_body(headers: Headers, receive: Receive, limits: BodyLimits) -> bytes:
    """Read a body, giving up at the first byte too many or when its time is over.

    Args:
        headers: the request's; ``content-length`` spares reading a body that says it is too long.
        receive: the connection.
        limits: what the body may take.

    Raises:
        EncodingError: the body is compressed. It stays so: a small body may unpack to any size.
        BodyTooLargeError: it is too long.
        BodyTimeoutError: it arrives too slowly.
        ClientGoneError: the client hung up.
    """
    _check_headers(headers, limits.max_bytes)
    loop = asyncio.get_running_loop()
    begun = loop.time()
    body = bytearray()
    while True:
        seconds = limits.seconds(len(body))
        try:
            async with asyncio.timeout_at(begun + seconds):
                message = await receive()
        except TimeoutError as error:
            raise BodyTimeoutError(len(body), seconds) from error
        if message["type"] == "http.disconnect":
            raise ClientGoneError("The client closed the connection while it sent the body.")
        body += message.get("body", b"")
        if len(body) > limits.max_bytes:
            raise BodyTooLargeError(limits.max_bytes)
        if not message.get("more_body", False):
            return bytes(body)


def _check_headers(headers: Headers, limit: int) -> None:
    for encoding in headers.getlist("content-encoding"):
        if encoding.strip().lower() not in {"", "identity"}:
            raise EncodingError(encoding)
    declared = headers.get("content-length", "")
    if declared.isdecimal() and len(declared) < _LONGEST_NUMBER and int(declared) > limit:
        raise BodyTooLargeError(limit)


def parse_object(raw: bytes) -> dict[str, object]:
    """Parse one JSON object strictly: UTF-8, no NaN, and no key twice in an object."""
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise MalformedBodyError(f"The body is not JSON in UTF-8: {error}.") from error
    if not isinstance(value, dict):
        raise MalformedBodyError(f"The body is a JSON {_json_type(value)}, allowed: an object. Send {{...}}.")
    _refuse_duplicates(raw)
    return value


def _refuse_duplicates(raw: bytes) -> None:
    """Parse again for keys alone: orjson keeps the last of two equal keys and says nothing."""
    try:
        json.loads(raw, object_pairs_hook=_check_keys, parse_int=str, parse_float=str)
    except RecursionError as error:
        raise MalformedBodyError("The body is nested too deeply. Send a flatter one.") from error


def _check_keys(pairs: list[tuple[str, object]]) -> None:
    keys = set()
    for key, _ in pairs:
        if key in keys:
            _refuse_key(key)
        keys.add(key)


def _refuse_key(key: str) -> Never:
    raise MalformedBodyError(f"The key {key[:80]!r} is twice in one object, so its value is unclear. Send it once.")


def _json_type(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case _:
            return "array"
