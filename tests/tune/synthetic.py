"""Items whose difficulty is known: what each needs follows from one feature and a little chance."""

import hashlib
from collections.abc import Iterator
from random import Random

import numpy as np

from unmask.control.features import FEATURES, Features
from unmask.strategy import StrategyChoice
from unmask.tasks.item import Split, split_of_digest
from unmask.testing.curves import make_curves
from unmask.tune.curve import Curve, CurveSet
from unmask.tune.item_runs import ItemRuns, Run, RunSet
from unmask.tune.items import draw_items

GRID = (1, 2, 4, 8, 16, 32)


def digests(split: Split, seed: int) -> Iterator[str]:
    """Yield digests of items that fall into a split."""
    number = 0
    while True:
        digest = hashlib.sha256(f"{seed} {number}".encode()).hexdigest()[:16]
        number += 1
        if split_of_digest(digest) is split:
            yield digest


def items_of(
    split: Split,
    count: int,
    *,
    task: str = "sort",
    seed: int = 0,
    spread: float = 0.3,
    hopeless: float = 0.0,
    grid: tuple[int, ...] = GRID,
) -> tuple[ItemRuns, ...]:
    """Return runs of items that need 1 to 16 steps, as far as their digits say, times ``2 ** gauss(0, spread)``.

    A share of ``hopeless`` items is right at no budget.
    """
    rng = Random(f"{split} {seed} {task}")
    items = []
    for _, item in zip(range(count), digests(split, seed), strict=False):
        digits = rng.randint(0, 16)
        needed = 2 ** (digits / 4 + rng.gauss(0, spread)) if rng.random() >= hopeless else float("inf")
        values = tuple(digits if name == "digits" else rng.randint(0, 8) for name in FEATURES)
        runs = tuple(Run(budget=budget, correct=budget >= needed, steps=budget) for budget in grid)
        items.append(ItemRuns(item=item, features=Features(task=task, values=values), runs=runs))
    return tuple(items)


def runs_of(
    split: Split, count: int, *, model_digest: str = "m", task: str = "sort", seed: int = 0, spread: float = 0.3
) -> RunSet:
    """Return such items as a set of runs."""
    return RunSet(
        model="tiny",
        model_digest=model_digest,
        split=split,
        strategy=StrategyChoice(),
        canvas_length=32,
        items=items_of(split, count, task=task, seed=seed, spread=spread),
    )


def curves_of(split: Split, count: int, *, task: str = "sort", digest: str = "0123456789abcdef") -> CurveSet:
    """Return curves of generated items, of which each needs about as many steps as its list has numbers."""
    drawn = draw_items(task, count, 0, split)
    needed = np.array([min(len(item.answer.split()), 12) for item in drawn])
    grid = np.array((1, 2, 4, 8, 16))
    steps = np.repeat(grid[:, None], count, axis=1)
    curve = Curve(
        task=task,
        grid=tuple(grid.tolist()),
        items=tuple(item.digest for item in drawn),
        difficulty=tuple(str(item.difficulty) for item in drawn),
        correct=steps >= needed,
        steps=steps,
        seconds=steps / 100,
    )
    return make_curves(curve, model_digest=digest, split=split)
