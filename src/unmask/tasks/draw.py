"""Drawing items until one falls into the wanted split."""

from collections.abc import Callable
from random import Random

from unmask.tasks.item import Item, Split, split_of


def draw_in_split(rng: Random, split: Split, draw: Callable[[Random, Split], Item]) -> Item:
    """Draw until the canonical form's hash falls into ``split``; every split holds a tenth or more of all forms."""
    while True:
        item = draw(rng, split)
        if split_of(item.canonical) is split:
            return item
