"""What steps buy, as values: one curve a task type, and the set that a run measured."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unmask.tasks.item import Split
from unmask.tune.errors import ForeignCurvesError, SplitError
from unmask.tune.origin import Origin
from unmask.tune.record import CurveRecord
from unmask.tune.settings import CurveSettings


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Curve:
    """The same items at every budget.

    Attributes:
        grid: budgets in denoise steps a canvas, rising.
        items: digests; ``difficulty`` the axes of each, as ``axis=value`` pairs.
        correct: whether each was right, ``[budgets, items]``; ``steps`` and ``seconds`` what each took.
    """

    task: str
    grid: tuple[int, ...]
    items: tuple[str, ...]
    difficulty: tuple[str, ...]
    correct: NDArray[np.bool_]
    steps: NDArray[np.int64]
    seconds: NDArray[np.float64]

    @property
    def quality(self) -> NDArray[np.float64]:
        """Share of right answers per budget."""
        return np.asarray(self.correct.mean(1), dtype=np.float64)

    @property
    def sufficient(self) -> NDArray[np.int64]:
        """Per item the least budget from which it stays right; 0 where it is wrong at the largest."""
        stays = np.logical_and.accumulate(self.correct[::-1], axis=0)[::-1]
        least = np.array(self.grid)[np.argmax(stays, axis=0)]
        return np.asarray(np.where(stays[-1], least, 0), dtype=np.int64)

    def at(self, budget: int) -> int:
        """Return a budget's place in the grid; one that is not in it is a ``ValueError``."""
        return self.grid.index(budget)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CurveSet:
    """The curves of a run, one a task type, and what they were measured on."""

    settings: CurveSettings
    origin: Origin
    curves: tuple[Curve, ...]

    def check_model(self, name: str, digest: str) -> None:
        """Refuse to be used for other weights.

        Raises:
            ForeignCurvesError: names both digests.
        """
        if self.settings.model_digest != digest:
            raise ForeignCurvesError(
                f"the curves are of {self.settings.model} {self.settings.model_digest}, and the model served is {name} "
                f"{digest}: what steps buy is another matter there; measure it with `unmask curve --model {name}`"
            )

    def check_split(self, split: Split) -> None:
        """Refuse to be used for what another split is for.

        Raises:
            SplitError: names both.
        """
        found = self.settings.split
        if found is not split:
            raise SplitError(
                f"the curves are of the split {found}, allowed: {split}; measure it with `unmask curve --split {split}`"
            )


def curve_from(task: str, grid: Sequence[int], records: Iterable[CurveRecord], order: Sequence[str]) -> Curve:
    """Build a curve from records, items in ``order``; an item without one at some budget is a ``KeyError``."""
    cells = {(record.item, record.budget): record for record in records if record.task == task}
    rows = [[cells[item, budget] for item in order] for budget in grid]
    return Curve(
        task=task,
        grid=tuple(grid),
        items=tuple(order),
        difficulty=tuple(record.difficulty for record in rows[0]),
        correct=np.array([[record.correct for record in row] for row in rows], dtype=np.bool_),
        steps=np.array([[record.steps for record in row] for row in rows], dtype=np.int64),
        seconds=np.array([[record.seconds for record in row] for row in rows], dtype=np.float64),
    )
