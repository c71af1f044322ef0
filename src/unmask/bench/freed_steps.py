"""Freed steps given to hard requests, and a fixed budget that spends as much."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from unmask.bench.policy_under_test import Given
from unmask.bench.trial import Setup
from unmask.tasks.item import Item

FACTORS = (1.0, 1.5, 2.0, 3.0, 4.0, 8.0)
"""How many times its budget a hard request may get; all of them run on without early exit."""

Floats = NDArray[np.float64]


def hardest_third(items: Sequence[Item], given: Sequence[Given]) -> NDArray[np.bool_]:
    """Mark the third of items that look hardest before their first step; what looks alike is told apart by its hash.

    Nothing is marked where all look alike: then no third is the hardest.
    """
    marks = np.zeros(len(items), dtype=np.bool_)
    hardness = [entry.hardness for entry in given]
    if hardness and min(hardness) < max(hardness):
        ranked = sorted(range(len(items)), key=lambda place: (-hardness[place], items[place].digest))
        marks[ranked[: round(len(items) / 3)]] = True
    return marks


def boosted(given: Given, factor: float, most: int) -> Setup:
    """Return how an item runs on, without exit, with ``factor`` times its budget under its caps and ``most``."""
    setup, service_class = given.estimator, given.assignment.service_class
    assert service_class is not None, "a policy has classes"
    total, cap = setup.max_total_steps, service_class.max_total_steps
    if total is not None:
        total = math.ceil(total * factor)
        total = total if cap is None else min(total, cap)
    steps = min(math.ceil(setup.max_steps * factor), service_class.max_steps, most)
    return replace(setup, max_steps=steps, max_total_steps=total)


def choose_factor(
    ours: Floats, hardest: NDArray[np.bool_], boosts: Mapping[float, Floats], fixed: float
) -> float | None:
    """Return the largest factor whose mean steps stay within a fixed budget's, on the tuning items; perhaps none does.

    Args:
        ours: steps of each item under the policy.
        hardest: which of them get more.
        boosts: by factor, steps of those.
        fixed: mean steps of the fixed budget.
    """
    within = [
        factor for factor, steps in boosts.items() if np.where(hardest, _spread(hardest, steps), ours).mean() <= fixed
    ]
    return max(within, default=None)


def quality_at_mean(steps: Floats, correct: Floats, mean: float) -> Floats | None:
    """Return each item's quality under fixed budgets that take ``mean`` steps: so many get one, the others the next.

    Of the grid's budgets the neighbours are taken between whose mean steps ``mean`` lies, in the shares that give
    exactly ``mean``. Where even the least takes more, it stands alone, to its own advantage.

    Args:
        steps: ``[budgets, items]``, budgets rising.
        correct: 1 where right, else 0, alike.
        mean: of the arm that is compared.

    Returns:
        One value an item; nothing where no budget takes as much.
    """
    means = np.maximum.accumulate(steps.mean(axis=1))
    if mean > means[-1]:
        return None
    upper = int(np.searchsorted(means, mean))
    if upper == 0:
        return np.asarray(correct[0], dtype=np.float64)
    share = (mean - means[upper - 1]) / (means[upper] - means[upper - 1])
    return np.asarray((1 - share) * correct[upper - 1] + share * correct[upper], dtype=np.float64)


def _spread(hardest: NDArray[np.bool_], steps: Floats) -> Floats:
    """Put the values of the marked items where they are."""
    spread = np.zeros(len(hardest))
    spread[hardest] = steps
    return spread
