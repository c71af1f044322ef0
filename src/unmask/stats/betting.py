"""Means of values in [0, 1] by betting: the interval holds the means that no bettor gets rich against."""

import math
from collections.abc import Callable

import numpy as np

from unmask.stats.intervals import Floats, Interval, IntervalResult, NotEnoughData, Values, check_confidence, floats

FRACTIONS: Floats = 0.999 * (np.arange(1, 25) / 24) ** 2
"""Shares of the capital that are staked. The small ones, which many values need, lie close together; none is all of it,
so that no bettor is ever out of the game."""
_HALVINGS = 60


def betting_mean(values: Values, confidence: float = 0.95) -> IntervalResult:
    """Return an interval for the mean of independent values in [0, 1] that holds for every distribution.

    The hedged capital of Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting"
    (arXiv 2010.09686), over a grid of constant stakes: against each mean ``m`` half of the capital is staked on more
    and half on less, in equal parts by each of `FRACTIONS`. Were ``m`` the mean, the capital would be a martingale that
    reaches ``2 / (1 - confidence)`` on one side no more often than half the error, and so such means are left out.

    Constant stakes make both ends rise, or stay, with each value, and know of no order of the values. Equal values
    give an interval of some width.
    """
    check_confidence(confidence)
    data = floats(values)
    if len(data) and not (data.min() >= 0 and data.max() <= 1):
        msg = f"values must lie in [0, 1], got {float(data.min())!r} to {float(data.max())!r}"
        raise ValueError(msg)
    if len(data) < 2:
        return NotEnoughData(n=len(data), reason=f"{len(data)} values, at least 2 needed")
    target = math.log(2 / (1 - confidence))
    mean = float(data.mean())
    low, high = _least_mean(data, mean, target), 1 - _least_mean(1 - data, 1 - mean, target)
    return Interval(estimate=mean, low=min(low, mean), high=max(high, mean))


def log_capital(values: Floats, counts: Floats, mean: float) -> float:
    """Return the logarithm of what 1 grows to that is staked on a larger mean than ``mean``, which is above 0.

    Args:
        values: shape (k,), different from one another.
        counts: shape (k,), how often each is there.
        mean: what is bet against.
    """
    gains = np.log1p(FRACTIONS[:, None] * (values / mean - 1))
    by_fraction = gains @ counts
    most = float(by_fraction.max())
    return most + math.log(float(np.exp(by_fraction - most).mean()))


def _least_mean(data: Floats, mean: float, target: float) -> float:
    values, counts = np.unique(data, return_counts=True)
    return _last_true(lambda tried: log_capital(values, counts.astype(np.float64), tried) >= target, mean)


def _last_true(holds: Callable[[float], bool], high: float) -> float:
    """Return the largest number up to ``high`` for which something holds that holds of none above it; else 0."""
    low = 0.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
