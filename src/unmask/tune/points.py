"""A curve budget by budget: quality, steps and latency, each with its interval."""

from dataclasses import dataclass

import numpy as np

from unmask.stats import IntervalResult, percentile_interval, wilson
from unmask.tune.curve import Curve
from unmask.tune.isotonic import isotonic


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """What one budget gives.

    Attributes:
        quality: share of right answers; ``fitted`` the same after isotonic regression over all budgets.
        steps: denoise steps a request took, on average over all its canvases.
        p50: seconds of half of the requests; ``p95`` of nineteen in twenty.
    """

    budget: int
    quality: IntervalResult
    fitted: float
    steps: float
    p50: IntervalResult
    p95: IntervalResult


def curve_points(curve: Curve) -> tuple[CurvePoint, ...]:
    """Return a point a budget: Wilson intervals of quality, order-statistic intervals of latency."""
    fitted = isotonic(curve.quality)
    return tuple(
        CurvePoint(
            budget=budget,
            quality=wilson(int(curve.correct[place].sum()), len(curve.items)),
            fitted=float(fitted[place]),
            steps=float(np.mean(curve.steps[place])),
            p50=percentile_interval(curve.seconds[place], 0.5),
            p95=percentile_interval(curve.seconds[place], 0.95),
        )
        for place, budget in enumerate(curve.grid)
    )
