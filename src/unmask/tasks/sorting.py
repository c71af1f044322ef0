"""Lists of three to twelve numbers to be put in ascending order."""

import re
from itertools import pairwise
from random import Random

from unmask.tasks.draw import draw_in_split
from unmask.tasks.failure import FailureKind
from unmask.tasks.item import PASSED, CheckResult, Difficulty, Item, Split, failed, question_of
from unmask.tasks.phrasing import draw_phrasing
from unmask.tasks.span import Span
from unmask.tasks.spec import load_spec
from unmask.types import Message, Role

LARGEST = 99
PHRASINGS = (
    "sort {items}",
    "sort: {items}",
    "sort the list {items}",
    "put in order: {items}",
    "order {items}",
    "please sort {items}",
    "order the list {items}",
    "please put in order: {items}",
)
SEPARATORS = (", ", " , ", " ")
_NUMBERS = re.compile(r"(?<![-\d.])-?\d[\d.]*(?:[ ,]+-?\d[\d.]*)+", re.ASCII)
_NUMBER = re.compile(r"\d{1,2}", re.ASCII)
_ANSWER = re.compile(r"\d{1,2}(?:, \d{1,2})*", re.ASCII)


def read_list(prompt: str) -> list[int] | None:
    """Return the first list of numbers in ``prompt``, or nothing when there is none this task type covers."""
    found = _NUMBERS.search(prompt)
    numbers = re.split(r"[ ,]+", found.group().rstrip(".")) if found else []
    return [int(number) for number in numbers] if numbers and all(map(_NUMBER.fullmatch, numbers)) else None


class Sort:
    """Sorting; the length is the difficulty axis."""

    name = "sort"

    def generate(self, rng: Random, split: Split) -> Item:
        """Draw one list of ``split``."""
        return draw_in_split(rng, split, self._draw)

    def _draw(self, rng: Random, split: Split) -> Item:
        length = load_spec().axis(self.name, "length").draw_int(rng)
        numbers = [rng.randint(0, LARGEST) for _ in range(length)]
        items = rng.choice(SEPARATORS).join(map(str, numbers))
        return Item(
            task=self.name,
            messages=(Message(role=Role.USER, content=draw_phrasing(rng, split, PHRASINGS).format(items=items)),),
            answer=", ".join(map(str, sorted(numbers))),
            difficulty=Difficulty(axes=(("length", length),)),
            canonical="sort " + " ".join(map(str, numbers)),
        )

    def check(self, item: Item, text: str) -> CheckResult:
        """Pass only the exact sorted list."""
        if text.strip() == item.answer:
            return PASSED
        return failed(f"expected {item.answer!r}", self.verify(item.messages, text).failure or FailureKind.LOGIC)

    def verify(self, messages: tuple[Message, ...], text: str) -> CheckResult:
        """Pass when the text holds the request's items, each as often, in ascending order."""
        wanted = read_list(question_of(messages))
        if wanted is None:
            return failed("no list found in the request")
        stripped = text.strip()
        if not _ANSWER.fullmatch(stripped):
            return failed("not a comma-separated list of numbers", FailureKind.FORMAT)
        given = [int(number) for number in stripped.split(", ")]
        if given != sorted(given):
            return failed("not in ascending order", FailureKind.LOGIC, _misplaced(text))
        return PASSED if given == sorted(wanted) else failed("not the items of the request", FailureKind.FACT)


def _misplaced(text: str) -> Span | None:
    """Return the first number of a list that is less than the one before it."""
    numbers = list(re.finditer(r"\d+", text))
    return next(
        (Span(start=two.start(), end=two.end()) for one, two in pairwise(numbers) if int(two[0]) < int(one[0])), None
    )
