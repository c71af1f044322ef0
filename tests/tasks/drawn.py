"""Seeded items that several test modules look at, and texts that are odd in every way a model's may be."""

from functools import cache
from random import Random

from unmask.tasks.item import Item, Split
from unmask.tasks.registry import all_tasks

ODD_TEXTS = (
    "",
    " ",
    "\n\n",
    "카로렌은 미벤에 살아요.",
    "مرحبا، كيف حالك؟ ١٢ + ٣",
    "שלום עולם",
    "\U0001f600\U0001f1f0\U0001f1f7 e\u0301",
    "١٢, ٣",
    "\x1c1, 2",
    "1\u20282",
    "\x00\x1b[31m",
    "\ud800",
    ": : :",
    "+",
    "_",
    "____\n____\n____\n____",
    "{}",
    "{" * 30_000,
    "a b " * 20_000,
    "home Miven " * 2_000 + ": Miven",
    "1, " * 50_000,
    "1 + " * 50_000,
    "9" * 100_000,
    "- " * 50_000,
    "한" * 100_000,
)


@cache
def drawn(task: str, split: Split, count: int) -> tuple[Item, ...]:
    """Return the first ``count`` items of a task's seeded stream of a split."""
    rng = Random(f"{task} {split}")
    generator = all_tasks()[task]
    return tuple(generator.generate(rng, split) for _ in range(count))
