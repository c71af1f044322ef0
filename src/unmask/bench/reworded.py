"""The same item asked in other words: another phrasing of its pool, with nothing that it is about changed."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from string import Formatter
from types import MappingProxyType

from unmask.tasks import arithmetic, latin, lookup, sorting
from unmask.tasks.dialogue_phrases import QUESTION_FRAMES
from unmask.tasks.extract_fields import INSTRUCTIONS
from unmask.tasks.item import Item, question_of

POOLS: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "arithmetic": arithmetic.PHRASINGS,
        "sort": sorting.PHRASINGS,
        "latin": latin.PHRASINGS,
        "lookup": lookup.PHRASINGS,
        "extract": INSTRUCTIONS,
        "dialogue": QUESTION_FRAMES,
    }
)
"""What questions of a task type are made of."""


def reworded(rng: Random, item: Item) -> Item | None:
    """Return the item with its question in another phrasing; nothing where its phrasing is not of the pool."""
    *before, last = item.messages
    question = question_of(item.messages)
    # Facts stand before the question of a look-up, a line each.
    head, newline, asked = question.rpartition("\n") if item.task == lookup.Lookup.name else ("", "", question)
    pool = POOLS[item.task]
    fitting = [(phrasing, found) for phrasing in pool if (found := _match(phrasing, asked)) is not None]
    if not fitting:
        return None
    # "sort: {items}" also fits where "sort {items}" does: the one that says most in its own words was used.
    used, words = max(fitting, key=lambda pair: len(_own_words(pair[0])))
    other = rng.choice([phrasing for phrasing in pool if phrasing != used])
    return replace(item, messages=(*before, replace(last, content=head + newline + other.format(**words))))


def _match(phrasing: str, text: str) -> dict[str, str] | None:
    pattern = "".join(
        re.escape(literal) + (f"(?P<{name}>.+)" if name else "") for literal, name, _, _ in Formatter().parse(phrasing)
    )
    found = re.fullmatch(pattern, text, re.DOTALL)
    return None if found is None else found.groupdict()


def _own_words(phrasing: str) -> str:
    return "".join(literal for literal, _, _, _ in Formatter().parse(phrasing))
