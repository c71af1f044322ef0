"""What is told of single requests, to whoever collects traces; never what they say."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Protocol

Attribute = str | bool | int | float | tuple[str, ...]
Attributes = Mapping[str, Attribute]


class Span(Protocol):
    """A stretch of time with attributes, part of a trace."""

    def note(self, attributes: Attributes) -> None:
        """Add attributes; a later value takes the place of an earlier one."""
        ...

    def fail(self, kind: str) -> None:
        """Mark it as ended in an error, of a kind out of few."""
        ...


class Tracing(Protocol):
    """Collects spans; none of its methods raises or waits."""

    def serve(self, name: str, headers: Mapping[str, str]) -> AbstractContextManager[Span]:
        """Open the span of a request that arrived, for as long as the block runs; spans opened within are its parts.

        Args:
            name: of the span, out of few.
            headers: of the request, with lower-case names; where they say of which trace it is, the span joins that.
        """
        ...

    def part(self, name: str) -> AbstractContextManager[Span]:
        """Open a span within the one that is open here, for as long as the block runs."""
        ...
