"""Pools of phrasings, the last quarter of each kept for the test split."""

from collections.abc import Sequence
from random import Random

from unmask.tasks.item import Split


def draw_phrasing(rng: Random, split: Split, pool: Sequence[str]) -> str:
    """Draw a phrasing; the last quarter of the pool is never seen outside the test split."""
    trained = len(pool) - len(pool) // 4
    return rng.choice(pool if split is Split.TEST else pool[:trained])
