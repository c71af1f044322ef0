"""The verifier of a list: the same items, in an order, none twice, so many of them."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from itertools import pairwise
from typing import assert_never

from unmask.tasks.failure import FailureKind
from unmask.tasks.item import PASSED, CheckResult, failed
from unmask.tasks.numeric import LONGEST_NUMBER
from unmask.tasks.span import Span
from unmask.tasks.verifier import LONGEST_ANSWER
from unmask.types import Message

SHOWN = 64
"""Characters of an item that a reason repeats."""


class ItemOrder(StrEnum):
    """How items follow one another: numbers by their value where all are numbers, texts by their characters."""

    ANY = "any"
    AS_GIVEN = "as_given"
    ASCENDING = "ascending"
    DESCENDING = "descending"


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint:
    """Passes an answer that is a list as asked for; blanks around items do not count.

    Attributes:
        separator: what stands between two items.
        same_items: the items that it has to hold, each as often; ``None`` asks for none in particular.
        order: how they follow one another; as given is the order of ``same_items``.
        is_distinct: whether none may be there twice.
        minimum: fewest items.
        maximum: most items.
    """

    separator: str = ","
    same_items: tuple[str, ...] | None = None
    order: ItemOrder = ItemOrder.ANY
    is_distinct: bool = False
    minimum: int | None = None
    maximum: int | None = None

    def judge(self, messages: tuple[Message, ...], text: str) -> CheckResult:  # noqa: ARG002 - the protocol's
        """Take the answer apart and compare."""
        if len(text) > LONGEST_ANSWER:
            return failed("longer than what is looked at", FailureKind.FORMAT)
        pieces = list(self._pieces(text))
        items = [text[piece.start : piece.end] for piece in pieces]
        empty = next((place for place, item in enumerate(items) if not item), None)
        if empty is not None:
            return failed("an empty item", FailureKind.FORMAT, _whole(pieces[empty], text))
        return self._count(items) or self._same(items, pieces) or self._ordered(items, pieces) or PASSED

    def _pieces(self, text: str) -> Iterator[Span]:
        start = 0
        for piece in text.split(self.separator):
            left = start + len(piece) - len(piece.lstrip())
            yield Span(start=left, end=left + len(piece.strip()))
            start += len(piece) + len(self.separator)

    def _count(self, items: list[str]) -> CheckResult | None:
        if self.minimum is not None and len(items) < self.minimum:
            return failed(f"{len(items)} items, fewer than {self.minimum}", FailureKind.LOGIC)
        if self.maximum is not None and len(items) > self.maximum:
            return failed(f"{len(items)} items, more than {self.maximum}", FailureKind.LOGIC)
        return None

    def _same(self, items: list[str], pieces: list[Span]) -> CheckResult | None:
        allowed = None if self.same_items is None else Counter(self.same_items)
        seen = Counter[str]()
        for item, piece in zip(items, pieces, strict=True):
            seen[item] += 1
            if self.is_distinct and seen[item] > 1:
                return failed(f"{item[:SHOWN]!r} twice", FailureKind.LOGIC, piece)
            if allowed is not None and seen[item] > allowed[item]:
                return failed(f"{item[:SHOWN]!r} is not among the items, or not as often", FailureKind.FACT, piece)
        if allowed is not None and allowed != seen:
            missing = next(iter(allowed - seen))
            return failed(f"{missing[:SHOWN]!r} is missing, or not there as often", FailureKind.FACT)
        return None

    def _ordered(self, items: list[str], pieces: list[Span]) -> CheckResult | None:
        wrong = next(self._misplaced(items), None)
        if wrong is None:
            return None
        return failed(f"{items[wrong][:SHOWN]!r} is not in the order asked for", FailureKind.LOGIC, pieces[wrong])

    def _misplaced(self, items: list[str]) -> Iterator[int]:
        """Yield which items do not follow the one before them."""
        match self.order:
            case ItemOrder.ANY:
                return
            case ItemOrder.AS_GIVEN:
                pairs = zip(items, self.same_items or (), strict=False)
                yield from (place for place, (item, given) in enumerate(pairs) if item != given)
            case ItemOrder.ASCENDING:
                yield from (place for place, (one, two) in enumerate(pairwise(_keys(items)), 1) if two < one)
            case ItemOrder.DESCENDING:
                yield from (place for place, (one, two) in enumerate(pairwise(_keys(items)), 1) if one < two)
            case _:
                assert_never(self.order)


def _whole(piece: Span, text: str) -> Span:
    """Return a part of at least one character."""
    start = min(piece.start, max(0, len(text) - 1))
    return Span(start=start, end=max(piece.end, start + 1))


def _keys(items: list[str]) -> list[tuple[Decimal, str]]:
    """Return what items are ordered by: all of them as numbers, or all as texts."""
    try:
        numbers = [Decimal(item if len(item) <= LONGEST_NUMBER else "no number") for item in items]
    except InvalidOperation:
        return [(Decimal(), item) for item in items]
    if not all(number.is_finite() for number in numbers):
        return [(Decimal(), item) for item in items]
    return [(number, "") for number in numbers]
