"""Where in a text of JSON a fault lies."""

import json
import re
from collections.abc import Sequence
from json import JSONDecodeError, JSONDecoder

from unmask.tasks.span import Span

_BLANK = re.compile(r"[ \t\n\r]*")
_DECODER = JSONDecoder()


def syntax_fault(text: str) -> Span | None:
    """Return the part from where a text ceases to be JSON up to its end; nothing where it is JSON.

    All of the rest: what follows the fault was written for another beginning.
    """
    try:
        json.loads(text)
    except JSONDecodeError as error:
        return Span(start=min(error.pos, max(0, len(text) - 1)), end=len(text))
    except (RecursionError, ValueError):
        return Span(start=0, end=len(text))
    return None


def value_at(text: str, path: Sequence[str | int]) -> Span | None:
    """Return the part of a JSON text that holds a value, by keys and indices; nothing where it is not found."""
    try:
        start = _skip(text, 0)
        for step in path:
            found = _member(text, start, step)
            if found is None:
                return None
            start = found
        _, end = _DECODER.raw_decode(text, start)
    except (ValueError, IndexError, RecursionError):
        return None
    return Span(start=start, end=end)


def _member(text: str, start: int, step: str | int) -> int | None:
    """Return where the value of a key or index of the object or list at ``start`` begins."""
    is_object = text[start] == "{"
    place, number = _skip(text, start + 1), 0
    while text[place] not in "}]":
        key: str | int = number
        if is_object:
            key, place = _DECODER.raw_decode(text, place)
            place = _skip(text, _skip(text, place) + 1)
        if key == step:
            return place
        _, place = _DECODER.raw_decode(text, place)
        place = _skip(text, place)
        if text[place] == ",":
            place = _skip(text, place + 1)
        number += 1
    return None


def _skip(text: str, place: int) -> int:
    found = _BLANK.match(text, place)
    return place if found is None else found.end()
