"""The oracle: of each item the smallest fixed budget that is right, as are all larger ones."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Oracle:
    """What knowing each item's sufficient budget would take.

    Attributes:
        right: items right at the largest budget, which it speaks for; the others are told apart.
        steps: denoise steps that an item takes at its sufficient budget, 0 for the others.
        budgets: that budget, 0 for the others.
    """

    right: NDArray[np.bool_]
    steps: NDArray[np.float64]
    budgets: NDArray[np.int64]


def find_oracle(grid: Sequence[int], correct: NDArray[np.bool_], steps: NDArray[np.float64]) -> Oracle:
    """Return the oracle over a grid of fixed budgets, ``[budgets, items]``, budgets rising.

    Steps are those that the run at the budget took, which may have converged before it was spent: arms are counted
    so too.
    """
    stays = np.logical_and.accumulate(correct[::-1], axis=0)[::-1]
    place = np.argmax(stays, axis=0)
    right = stays[-1]
    taken = np.take_along_axis(steps, place[None, :], axis=0)[0]
    return Oracle(
        right=right,
        steps=np.where(right, taken, 0.0),
        budgets=np.where(right, np.array(grid, dtype=np.int64)[place], 0),
    )
