"""Bytes that come in: a bounded body, and one JSON object in it."""

import json
from typing import Never

import orjson
from starlette.types import Receive

from unmask.api.errors import BodyTooLargeError, ClientGoneError, MalformedBodyError

_LONGEST_NUMBER = 19
"""A ``content-length`` of more digits is left to the count of what arrives."""


async def read_body(receive: Receive, limit: int, declared: str | None) -> bytes:
    """Read a body of at most ``limit`` bytes, giving up at the first byte too many.

    Args:
        receive: the connection.
        limit: most bytes to accept.
        declared: the ``content-length`` header, which spares reading a body that says it is too long.
    """
    if declared is not None and declared.isdecimal() and len(declared) < _LONGEST_NUMBER and int(declared) > limit:
        raise BodyTooLargeError(limit)
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGoneError("The client closed the connection while it sent the body.")
        body += message.get("body", b"")
        if len(body) > limit:
            raise BodyTooLargeError(limit)
        if not message.get("more_body", False):
            return bytes(body)


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
