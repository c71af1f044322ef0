"""One budget for all against a budget by difficulty, replayed on a curve's own items."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unmask.tune.curve import Curve
from unmask.tune.isotonic import isotonic
from unmask.tune.landmarks import find_landmarks

BINS = 5
HALVES = 2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Arm:
    """What every item would have got: its steps, seconds and whether it is right, one value an item."""

    steps: NDArray[np.float64]
    seconds: NDArray[np.float64]
    correct: NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Arms:
    """Both ways, on the same items; ``bins`` tells how hard each looks, from 0."""

    fixed: Arm
    adaptive: Arm
    bins: NDArray[np.int64]


def replay(curve: Curve, seed: int) -> Arms:
    """Give every item the saturation of its task type, and the saturation of its difficulty bin.

    Bins are fifths of a linear fit of log2 sufficient steps on the item's difficulty axes. Fit, bins and budgets of
    each half of the items come from the other half, so that nothing is judged on what it was chosen on.
    """
    count = len(curve.items)
    axes = _axes(curve)
    half = np.random.default_rng(seed).permutation(count) % HALVES
    fixed, adaptive = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    bins = np.zeros(count, dtype=np.int64)
    for side in range(HALVES):
        known, judged = half != side, half == side
        looks = axes @ _fitted_weights(axes[known], _log_sufficient(curve)[known])
        edges = np.quantile(looks[known], np.arange(1, BINS) / BINS)
        placed = np.searchsorted(edges, looks, side="left")
        whole = _saturation(curve, known)
        bins[judged], fixed[judged] = placed[judged], whole
        for number in range(BINS):
            inside = known & (placed == number)
            budget = _saturation(curve, inside) if inside.any() else whole
            adaptive[judged & (placed == number)] = budget
    return Arms(fixed=_arm(curve, fixed), adaptive=_arm(curve, adaptive), bins=bins)


def _arm(curve: Curve, places: NDArray[np.int64]) -> Arm:
    items = np.arange(len(curve.items))
    return Arm(
        steps=curve.steps[places, items].astype(np.float64),
        seconds=curve.seconds[places, items],
        correct=curve.correct[places, items].astype(np.float64),
    )


def _saturation(curve: Curve, chosen: NDArray[np.bool_]) -> int:
    quality = np.asarray(curve.correct[:, chosen].mean(axis=1), dtype=np.float64)
    return curve.at(find_landmarks(curve.grid, isotonic(quality)).saturation)


def _log_sufficient(curve: Curve) -> NDArray[np.float64]:
    """Items that are wrong at the largest budget count as needing all of it."""
    steps = curve.sufficient
    return np.log2(np.where(steps > 0, steps, curve.grid[-1]).astype(np.float64))


def _axes(curve: Curve) -> NDArray[np.float64]:
    """Return difficulty axes and a constant, ``[items, axes + 1]``; an item without an axis has 0 there."""
    read = [dict(pair.split("=", 1) for pair in text.split()) for text in curve.difficulty]
    names = sorted({name for pairs in read for name in pairs})
    return np.array([[*(float(pairs.get(name, 0)) for name in names), 1.0] for pairs in read], dtype=np.float64)


def _fitted_weights(axes: NDArray[np.float64], wanted: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.linalg.lstsq(axes, wanted, rcond=None)[0], dtype=np.float64)
