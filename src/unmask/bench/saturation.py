"""What steps buy: where a task type's quality saturates, and how its items differ in the steps they need."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from unmask.bench.report import Figure, MustReach, Op, measured
from unmask.stats import paired_difference, wilson
from unmask.tune.curve import Curve
from unmask.tune.isotonic import isotonic
from unmask.tune.landmarks import find_landmarks

SATURATES_AT = 6
SPREAD = 4.0
FLAT = 0.03
# A task type that is mostly wrong at every budget is not flat but unlearnt.
LEARNT = 0.5
WANTED_STEEP = 3
WANTED_FLAT = 1


def saturation(curve: Curve) -> int:
    """Return the fewest steps whose fitted quality is within one point of the best."""
    return find_landmarks(curve.grid, isotonic(curve.quality)).saturation


def needed(curve: Curve) -> NDArray[np.int64]:
    """Return the sufficient steps of the items that are right at the largest budget."""
    steps = curve.sufficient
    return np.asarray(steps[steps > 0], dtype=np.int64)


def spread(curve: Curve) -> float:
    """Return the 90th over the 10th percentile of sufficient steps; 1 where no item is right."""
    steps = needed(curve)
    if not len(steps):
        return 1.0
    low, high = np.quantile(steps, (0.1, 0.9), method="nearest")
    return float(high / low)


def gain(curve: Curve) -> float:
    """Return the best quality less that at the smallest budget."""
    return float(curve.quality.max() - curve.quality[0])


def is_steep(curve: Curve) -> bool:
    """Tell whether steps matter here, and differ from item to item."""
    return saturation(curve) >= SATURATES_AT and spread(curve) >= SPREAD


def is_flat(curve: Curve) -> bool:
    """Tell whether steps gain less than three points at a quality that is of use."""
    return gain(curve) < FLAT and float(curve.quality.max()) >= LEARNT


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
        for steps, right, used in zip(curve.grid, curve.correct, curve.steps.mean(1), strict=True)
    ]
    best = int(np.argmax(curve.quality))
    gained = paired_difference(
        curve.correct[best].astype(float), curve.correct[0].astype(float), seed, bounds=(-1.0, 1.0)
    )
    steps = needed(curve)
    low, middle, high = np.quantile(steps, (0.1, 0.5, 0.9), method="nearest") if len(steps) else (0, 0, 0)
    return [
        *figures,
        Figure(name=f"{curve.task}.saturation_steps", value=saturation(curve)),
        Figure(
            name=f"{curve.task}.sufficient_spread",
            value=spread(curve),
            note=f"p10/p50/p90 of sufficient steps {low}/{middle}/{high}",
        ),
        measured(f"{curve.task}.gain", gained, fallback=gain(curve)),
    ]


def saturation_targets(curves: Sequence[Curve]) -> tuple[MustReach, ...]:
    """The trade-off must be real: some task types steep, at least one flat."""
    steep = sum(is_steep(curve) for curve in curves)
    flat = sum(is_flat(curve) for curve in curves)
    return (
        MustReach(name="steep_task_types", value=steep, bound=steep, op=Op.AT_LEAST, target=WANTED_STEEP),
        MustReach(name="flat_task_types", value=flat, bound=flat, op=Op.AT_LEAST, target=WANTED_FLAT),
    )
