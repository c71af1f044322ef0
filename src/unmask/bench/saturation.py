"""What steps buy: where a task type's quality saturates, and how its items differ in the steps they need."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unmask.bench.report import Figure, MustReach, Op, measured
from unmask.stats import paired_difference, wilson

WITHIN = 0.01
SATURATES_AT = 6
SPREAD = 4.0
FLAT = 0.03
# A task type that is mostly wrong at every budget is not flat but unlearnt.
LEARNT = 0.5
WANTED_STEEP = 3
WANTED_FLAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Correctness of the same items at every budget, ``[budgets, items]``, and mean steps used."""

    task: str
    grid: tuple[int, ...]
    correct: NDArray[np.bool_]
    steps_used: tuple[float, ...]

    @property
    def quality(self) -> NDArray[np.float64]:
        """Share of right answers per budget."""
        return np.asarray(self.correct.mean(1), dtype=np.float64)

    @property
    def saturation(self) -> int:
        """Fewest steps whose quality is within one point of the best."""
        reached = self.quality >= self.quality.max() - WITHIN
        return self.grid[int(np.argmax(reached))]

    @property
    def sufficient(self) -> NDArray[np.int64]:
        """Per item that is right at the largest budget: fewest steps from which it stays right."""
        stays = np.logical_and.accumulate(self.correct[::-1], axis=0)[::-1]
        first = np.argmax(stays, axis=0)
        return np.asarray(np.array(self.grid)[first[stays[-1]]], dtype=np.int64)

    @property
    def spread(self) -> float:
        """90th over 10th percentile of sufficient steps; 1 where no item is right."""
        steps = self.sufficient
        if not len(steps):
            return 1.0
        low, high = np.quantile(steps, (0.1, 0.9), method="nearest")
        return float(high / low)

    @property
    def gain(self) -> float:
        """Quality at the largest budget less quality at the smallest."""
        return float(self.quality.max() - self.quality[0])

    @property
    def is_steep(self) -> bool:
        """Whether steps matter here, and differ from item to item."""
        return self.saturation >= SATURATES_AT and self.spread >= SPREAD

    @property
    def is_flat(self) -> bool:
        """Whether steps gain less than three points at a quality that is of use."""
        return self.gain < FLAT and float(self.quality.max()) >= LEARNT


def saturation_figures(curve: Curve, seed: int) -> list[Figure]:
    """Return quality per budget with intervals, saturation, spread and gain of one task type."""
    count = curve.correct.shape[1]
    figures = [
        measured(
            f"{curve.task}.quality_at_{steps}",
            wilson(int(right.sum()), count),
            fallback=0.0,
            n=count,
            note=f"{used:.1f} steps used on average",
        )
        for steps, right, used in zip(curve.grid, curve.correct, curve.steps_used, strict=True)
    ]
    best = int(np.argmax(curve.quality))
    gain = paired_difference(
        curve.correct[best].astype(float), curve.correct[0].astype(float), seed, bounds=(-1.0, 1.0)
    )
    steps = curve.sufficient
    low, middle, high = np.quantile(steps, (0.1, 0.5, 0.9), method="nearest") if len(steps) else (0, 0, 0)
    return [
        *figures,
        Figure(name=f"{curve.task}.saturation_steps", value=curve.saturation),
        Figure(
            name=f"{curve.task}.sufficient_spread",
            value=curve.spread,
            note=f"p10/p50/p90 of sufficient steps {low}/{middle}/{high}",
        ),
        measured(f"{curve.task}.gain", gain, fallback=curve.gain),
    ]


def saturation_targets(curves: Sequence[Curve]) -> tuple[MustReach, ...]:
    """The trade-off must be real: some task types steep, at least one flat."""
    steep = sum(curve.is_steep for curve in curves)
    flat = sum(curve.is_flat for curve in curves)
    return (
        MustReach(name="steep_task_types", value=steep, bound=steep, op=Op.AT_LEAST, target=WANTED_STEEP),
        MustReach(name="flat_task_types", value=flat, bound=flat, op=Op.AT_LEAST, target=WANTED_FLAT),
    )
