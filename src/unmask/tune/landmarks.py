"""Where a curve saturates, collapses and bends, and how sure that is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from unmask.stats import NotEnoughData
from unmask.tune.curve import Curve
from unmask.tune.isotonic import isotonic

SATURATED = 0.01
"""How far below the maximum counts as saturated: one point."""
COLLAPSED = 0.10
"""How far below it counts as collapsed."""
ADDS = 0.02
"""What a doubling must add to be worth it."""
FLAT = 0.03
"""A curve that gains less in all is flat."""
MIN_ITEMS = 100
"""With fewer items one of them moves quality by more than the point that saturation is read to."""
RESAMPLES = 2000
_SLACK = 1e-9
_CELLS = 1 << 22
"""Numbers that a fit of many curves holds at a time: points squared for each."""
NOWHERE = -1

Floats: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Landmarks:
    """What is read off a fitted curve, in denoise steps a canvas.

    Attributes:
        floor: next grid point above ``collapse``, else 1.
        knee: fewest steps above collapse after which no doubling adds 2 points.
        saturation: fewest whose quality is within 1 point of the maximum.
        collapse: most that are 10 points or more below it; ``None`` where even the least budget is better.
        flat: whether steps gain less than 3 points in all.
    """

    floor: int
    knee: int
    saturation: int
    collapse: int | None
    flat: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How a landmark falls over the grid when items are resampled.

    Attributes:
        shares: of resamples at each grid point; they add up to less than 1 where some have no such landmark.
        low: least and ``high`` largest grid point of the middle 95 % of resamples that have one; ``None`` without any.
    """

    shares: tuple[float, ...]
    low: int | None
    high: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredLandmarks:
    """Landmarks with their bootstrap distributions."""

    at: Landmarks
    floor: Spread
    knee: Spread
    saturation: Spread
    collapse: Spread
    flat_share: float


LandmarkResult: TypeAlias = MeasuredLandmarks | NotEnoughData


def find_landmarks(grid: Sequence[int], fitted: Floats) -> Landmarks:
    """Read landmarks off a fitted curve, one value a grid point, rising."""
    places = _places(grid, fitted[None, :])
    collapse = int(places.collapse[0])
    return Landmarks(
        floor=grid[int(places.floor[0])],
        knee=grid[int(places.knee[0])],
        saturation=grid[int(places.saturation[0])],
        collapse=None if collapse == NOWHERE else grid[collapse],
        flat=bool(places.flat[0]),
    )


def measure_landmarks(curve: Curve, seed: int, *, resamples: int = RESAMPLES) -> LandmarkResult:
    """Return a curve's landmarks with their distributions over the grid, items resampled together."""
    count = len(curve.items)
    if count < MIN_ITEMS:
        return NotEnoughData(n=count, reason=f"{count} items, at least {MIN_ITEMS} needed to tell one point of quality")
    places = _places(curve.grid, _resampled_fits(curve, seed, resamples))
    return MeasuredLandmarks(
        at=find_landmarks(curve.grid, isotonic(curve.quality)),
        floor=_spread(curve.grid, places.floor),
        knee=_spread(curve.grid, places.knee),
        saturation=_spread(curve.grid, places.saturation),
        collapse=_spread(curve.grid, places.collapse),
        flat_share=float(places.flat.mean()),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """Places in the grid, one a curve; `NOWHERE` for a collapse that there is not."""

    floor: Places
    knee: Places
    saturation: Places
    collapse: Places
    flat: NDArray[np.bool_]


def _places(grid: Sequence[int], fitted: Floats) -> _Found:
    best = fitted[:, -1:]
    collapse = _last(fitted <= best - COLLAPSED + _SLACK)
    doubling = fitted @ _doubled(grid).T - fitted >= ADDS - _SLACK
    return _Found(
        floor=collapse + 1,
        knee=np.maximum(_last(doubling), collapse) + 1,
        saturation=np.argmax(fitted >= best - SATURATED - _SLACK, axis=1),
        collapse=collapse,
        flat=fitted[:, -1] - fitted[:, 0] < FLAT - _SLACK,
    )


def _last(marks: NDArray[np.bool_]) -> Places:
    """Return the last marked place of each row, `NOWHERE` in rows without any."""
    points = marks.shape[1]
    return np.where(marks.any(axis=1), points - 1 - np.argmax(marks[:, ::-1], axis=1), NOWHERE)


def _doubled(grid: Sequence[int]) -> Floats:
    """Return weights by which a curve's values give those at twice each budget: linear in log2 steps between points.

    Twice a budget beyond the end of the grid is the end.
    """
    steps = np.log2(np.array(grid, dtype=np.float64))
    points = np.eye(len(grid))
    return np.stack([np.interp(steps + 1, steps, row) for row in points], axis=1)


def _resampled_fits(curve: Curve, seed: int, resamples: int) -> Floats:
    """Return fitted quality per budget of resampled items; items that fare alike are drawn together."""
    patterns, counts = np.unique(curve.correct.T, axis=0, return_counts=True)
    rng = np.random.default_rng(seed)
    total = int(counts.sum())
    chunk = max(1, _CELLS // max(len(curve.grid) ** 2, len(counts)))
    fits = []
    for start in range(0, resamples, chunk):
        drawn = rng.multinomial(total, counts / total, size=min(chunk, resamples - start))
        fits.append(isotonic(drawn @ patterns.astype(np.float64) / total))
    return np.concatenate(fits)


def _spread(grid: Sequence[int], places: Places) -> Spread:
    found = places[places != NOWHERE]
    shares = np.bincount(found, minlength=len(grid)) / len(places)
    if not len(found):
        return Spread(shares=tuple(map(float, shares)), low=None, high=None)
    low, high = np.quantile(found, (0.025, 0.975), method="inverted_cdf")
    return Spread(shares=tuple(map(float, shares)), low=grid[int(low)], high=grid[int(high)])
