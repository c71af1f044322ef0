"""How many clusters a gate needs, and how likely it passes with those there are.

A row of rates passes with ``m`` misses among ``n`` clusters when the lower end of Wilson's interval is at least the
threshold ``t``: when ``n (1 - t) - m >= z sqrt(n t (1 - t))``. All here follows from this and the binomial law.
"""

import math

import numpy as np

from unmask.stats import Floats, at_most, normal_quantile, percentile_ranks
from unmask.stats.betting import FRACTIONS

POWER = 0.8
MOST_UNITS = 10_000_000
"""More units than this are as good as none that would do."""
_LINEAR = 400


def least_passing(misses: int, threshold: float, confidence: float) -> int:
    """Return the fewest clusters of which so many may miss while Wilson's lower end is at least ``threshold``."""
    z = normal_quantile(confidence)
    spread = z * math.sqrt(threshold * (1 - threshold))
    root = (spread + math.sqrt(spread**2 + 4 * (1 - threshold) * misses)) / (2 * (1 - threshold))
    return math.ceil(root**2 - 1e-9)


def most_misses(n: int, threshold: float, confidence: float) -> int:
    """Return how many of ``n`` clusters may miss for a lower end of at least ``threshold``; -1 where none may."""
    z = normal_quantile(confidence)
    return max(-1, math.floor(n * (1 - threshold) - z * math.sqrt(n * threshold * (1 - threshold)) + 1e-9))


def chance_of_rate(n: int, rate: float, threshold: float, confidence: float) -> float:
    """Return the probability that ``n`` clusters of a true rate give a lower end of at least ``threshold``."""
    return at_most(most_misses(n, threshold, confidence), n, 1 - rate)


def needed_for_rate(rate: float, threshold: float, confidence: float, power: float = POWER) -> int | None:
    """Return the fewest clusters with which, as with any more, a true rate passes with probability ``power``.

    ``None`` where the rate is not above the threshold, or would need more than `MOST_UNITS`.
    """
    if rate <= threshold:
        return None

    def reaches(misses: int) -> bool:
        # At the largest number with which no more may miss, where the chance is least.
        return at_most(misses, least_passing(misses + 1, threshold, confidence) - 1, 1 - rate) >= power

    for misses in range(_LINEAR):
        if reaches(misses):
            return least_passing(misses, threshold, confidence)
    low, high = _LINEAR - 1, _LINEAR
    while not reaches(high):
        low, high = high, high * 2
        if least_passing(low, threshold, confidence) > MOST_UNITS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return least_passing(high, threshold, confidence)


def needed_for_mean(values: Floats, threshold: float, confidence: float, power: float = POWER) -> int | None:
    """Return about how many clusters like these have a betting interval whose lower end is above ``threshold``.

    The best constant stake grows by a mean and a spread a cluster that are read off ``values``, shape (n,); enough
    clusters are there when what it has grown to with probability ``power``, split among all stakes, reaches the target.
    ``None`` where the mean is not above the threshold, or it would need more than `MOST_UNITS`.
    """
    if not len(values) or float(values.mean()) <= threshold:
        return None
    gains = np.log1p(FRACTIONS[:, None] * (values / threshold - 1))
    growth, spread = gains.mean(axis=1), gains.std(axis=1)
    target = math.log(2 * len(FRACTIONS) / (1 - confidence))
    margin = normal_quantile(2 * power - 1) if power > 0.5 else 0.0
    found = [
        ((margin * s + math.sqrt((margin * s) ** 2 + 4 * g * target)) / (2 * g)) ** 2
        for g, s in zip(growth.tolist(), spread.tolist(), strict=True)
        if g > 0
    ]
    least = min(found, default=math.inf)
    return math.ceil(least) if least <= MOST_UNITS else None


def chance_of_percentile(n: int, share: float, q: float, confidence: float) -> float:
    """Return the probability that the upper end of a percentile of ``n`` scenarios is within its limit.

    Args:
        n: scenarios, one answer of each.
        share: of answers that are within the limit.
        q: which percentile, such as 0.95.
        confidence: two-sided.
    """
    low, high = percentile_ranks(n, q, confidence)
    return 1 - at_most(high - 1, n, share) if low >= 1 and high <= n else 0.0


def needed_for_percentile(share: float, q: float, confidence: float, power: float = POWER) -> int | None:
    """Return about how many scenarios a percentile row needs, as `needed_for_rate`; ``share`` as above."""
    if share <= q:
        return None
    high = 2
    while chance_of_percentile(high, share, q, confidence) < power:
        high *= 2
        if high > MOST_UNITS // 16:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        enough = chance_of_percentile(middle, share, q, confidence) >= power
        low, high = (low, middle) if enough else (middle, high)
    return high
