"""The items that curves are measured on, each canonical form once."""

from random import Random
from typing import Protocol

from unmask.errors import InvalidRequestError
from unmask.tasks.item import CheckResult, Item, Split
from unmask.tasks.registry import all_tasks

_DRAWS_AN_ITEM = 100
"""Draws for each item wanted, after which the split counts as used up."""


class ItemSource(Protocol):
    """Where items are from, and what judges answers to them."""

    def draw(self, task: str, count: int, seed: int, split: Split) -> tuple[Item, ...]:
        """Return distinct items of a task type and split, the same for the same arguments."""
        ...

    def check(self, item: Item, text: str) -> CheckResult:
        """Judge an answer to an item, knowing the truth."""
        ...


class PackagedItems:
    """Items that the generators of the package make."""

    def draw(self, task: str, count: int, seed: int, split: Split) -> tuple[Item, ...]:
        """See `draw_items`."""
        return draw_items(task, count, seed, split)

    def check(self, item: Item, text: str) -> CheckResult:
        """Ask the task type's checker."""
        return all_tasks()[item.task].check(item, text)


PACKAGED: ItemSource = PackagedItems()


def draw_items(task: str, count: int, seed: int, split: Split = Split.TUNE) -> tuple[Item, ...]:
    """Draw distinct items of a task type, as the frozen mixture distributes them; the same for the same arguments.

    Raises:
        InvalidRequestError: the split holds too few different items.
    """
    rng = Random(f"tune/{seed}/{task}/{split}")
    generator = all_tasks()[task]
    items: dict[str, Item] = {}
    for _ in range(count * _DRAWS_AN_ITEM):
        item = generator.generate(rng, split)
        items.setdefault(item.canonical, item)
        if len(items) == count:
            return tuple(items.values())
    raise InvalidRequestError(
        "--items", count, f"about {len(items)} for {task}", "Its split holds no more different items."
    )
