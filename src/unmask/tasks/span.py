"""The part of a text that a failure lies in."""

from dataclasses import dataclass
from itertools import takewhile


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Characters from ``start`` up to but without ``end``."""

    start: int
    end: int


def difference(text: str, wanted: str) -> Span:
    """Return the part of a text from where it differs from what it should say; blanks before it do not count."""
    lead = len(text) - len(text.lstrip())
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(text[lead:], wanted, strict=False)))
    start = max(0, min(lead + same, len(text) - 1))
    return Span(start=start, end=max(len(text), start + 1))
