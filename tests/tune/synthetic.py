"""Items whose difficulty is known: what each needs follows from one feature and a little chance."""

import hashlib
from collections.abc import Iterator
from random import Random

from unmask.control.features import FEATURES, Features
from unmask.tasks.item import Split, split_of_digest
from unmask.tune.item_runs import ItemRecord, RunSet, collect

GRID = (1, 2, 4, 8, 16, 32)


def digests(split: Split, seed: int) -> Iterator[str]:
    """Yield digests of items that fall into a split."""
    number = 0
    while True:
        digest = hashlib.sha256(f"{seed} {number}".encode()).hexdigest()[:16]
        number += 1
        if split_of_digest(digest) is split:
            yield digest


def records_of(
    split: Split,
    count: int,
    *,
    task: str = "sort",
    seed: int = 0,
    spread: float = 0.3,
    hopeless: float = 0.0,
    grid: tuple[int, ...] = GRID,
) -> list[ItemRecord]:
    """Return runs of items that need 1 to 16 steps, as far as their digits say, times ``2 ** gauss(0, spread)``.

    A share of ``hopeless`` items is right at no budget.
    """
    rng = Random(f"{split} {seed} {task}")
    records = []
    for _, item in zip(range(count), digests(split, seed), strict=False):
        digits = rng.randint(0, 16)
        needed = 2 ** (digits / 4 + rng.gauss(0, spread)) if rng.random() >= hopeless else float("inf")
        values = tuple(digits if name == "digits" else rng.randint(0, 8) for name in FEATURES)
        features = Features(task=task, values=values)
        records += [
            ItemRecord(item=item, features=features, budget=budget, correct=budget >= needed, steps=budget)
            for budget in grid
        ]
    return records


def runs_of(split: Split, count: int, *, model_digest: str = "m", seed: int = 0, spread: float = 0.3) -> RunSet:
    """Return such items as a set of runs."""
    records = records_of(split, count, seed=seed, spread=spread)
    return collect(records, split, model="tiny", model_digest=model_digest)
