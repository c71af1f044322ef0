"""The items of a tasks file, and which split each belongs to."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from unmask.errors import UnmaskError
from unmask.tasks.item import CheckResult, Difficulty, Item, Split
from unmask.tune.own.checks import Check, Exact, FitsSchema, Matches, composed, judge_all
from unmask.tune.settings import TasksFile
from unmask.types import Message

SPLITTER = "unmask.tasks/1"
"""Seed of the hash that splits items: always the same, so that no run measures on what another was tuned on."""
TUNED_OF_TEN = 6
CALIBRATED_OF_TEN = 2
"""Of ten items six tune, two calibrate and two test; a user's items train nothing here."""


class NoItemsError(UnmaskError):
    """A tasks file has no items for what is to be measured: there is not enough data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnItem:
    """An item as its file has it, and what its answers are held to; of several checks all have to pass."""

    id: str
    item: Item
    checks: tuple[Check, ...]

    @property
    def split(self) -> Split:
        """The split it belongs to, by what it asks alone."""
        return own_split(self.item.canonical)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnTasks:
    """A whole tasks file.

    Attributes:
        digest: of the file's bytes.
        items: by task type, in the order of the file, each by the digest of what it asks.
    """

    digest: str
    items: Mapping[str, Mapping[str, OwnItem]]

    @property
    def file(self) -> TasksFile:
        """What is kept of it beside measurements."""
        return TasksFile(digest=self.digest, items={task: len(items) for task, items in self.items.items()})

    def counts(self, split: Split) -> Counter[str]:
        """Return how many items of a split there are, by task type; of some there may be none."""
        return Counter(task for task, items in self.items.items() for entry in items.values() if entry.split is split)

    def draw(self, task: str, count: int, seed: int, split: Split) -> tuple[Item, ...]:
        """Draw at most so many items of a task type and split, without putting back; the same for the same arguments.

        Raises:
            NoItemsError: there is none.
        """
        found = sorted(digest for digest, entry in self.items[task].items() if entry.split is split)
        if not found:
            raise NoItemsError(f"not enough data: no item of {task} belongs to the split {split}; bring more items")
        chosen = Random(f"own/{seed}/{task}").sample(found, min(count, len(found)))
        return tuple(self.items[task][digest].item for digest in chosen)

    def check(self, item: Item, text: str) -> CheckResult:
        """Judge an answer to one of these items."""
        return judge_all(self.items[item.task][item.digest].checks, text)

    def has_form(self, task: str) -> bool:
        """Tell whether a check of a task type looks at the form of answers."""
        return any(
            isinstance(check, Matches | FitsSchema) for entry in self.items[task].values() for check in entry.checks
        )


def own_item(
    name: str, task: str, messages: tuple[Message, ...], checks: tuple[Check, ...], axes: Difficulty
) -> OwnItem:
    """Return an item. What it asks names it and splits it, however its characters were typed."""
    first = next((check for check in checks if isinstance(check, Exact)), None)
    asked = [[message.role.value, composed(message.content)] for message in messages]
    item = Item(
        task=task,
        messages=messages,
        answer="" if first is None else first.alternatives[0],
        difficulty=axes,
        canonical=json.dumps(asked, ensure_ascii=False),
    )
    return OwnItem(id=name, item=item, checks=checks)


def own_split(canonical: str) -> Split:
    """Return the split that what an item asks falls into."""
    place = int(hashlib.sha256(f"{SPLITTER}\0{canonical}".encode()).hexdigest()[:8], 16) % 10
    if place < TUNED_OF_TEN:
        return Split.TUNE
    return Split.CALIBRATE if place < TUNED_OF_TEN + CALIBRATED_OF_TEN else Split.TEST
