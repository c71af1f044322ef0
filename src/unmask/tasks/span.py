"""The part of a text that a failure lies in."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Characters from ``start`` up to but without ``end``."""

    start: int
    end: int
