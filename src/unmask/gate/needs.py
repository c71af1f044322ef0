"""What a row would need to be decided, and whether it can pass at all."""

from collections.abc import Sequence

import numpy as np

from unmask.gate.cells import Cell, cluster_means, one_a_scenario, values_of
from unmask.gate.gate_file import PERCENTILES, Bound, Row
from unmask.gate.plan import (
    POWER,
    chance_of_percentile,
    chance_of_rate,
    needed_for_mean,
    needed_for_percentile,
    needed_for_rate,
)
from unmask.stats import Interval, betting_mean

FEWEST_UNITS = 2
"""One cluster says nothing of others."""


def can_pass(row: Row, units: int, confidence: float) -> bool:
    """Tell whether a row could pass if every one of so many units were perfect."""
    if chance(row, 1.0, units, confidence) > 0:
        return True
    if row.statistic in PERCENTILES:
        return False
    # At later looks betting asks less of perfect clusters than Wilson's interval does.
    perfect = betting_mean(np.ones(units), confidence)
    return isinstance(perfect, Interval) and perfect.low >= good_threshold(row)


def chance(row: Row, rate: float, units: int, confidence: float) -> float:
    """Return the probability that a row passes with so many units.

    Args:
        row: of a mean, values that are 0 or 1 are assumed, which spread most.
        rate: true share of good units: for less is better of those without, for a percentile within the limit.
        units: clusters, or for a percentile scenarios.
        confidence: two-sided.
    """
    if units < FEWEST_UNITS:
        return 0.0
    if row.statistic in PERCENTILES:
        return chance_of_percentile(units, rate, PERCENTILES[row.statistic], confidence)
    return chance_of_rate(units, rate, good_threshold(row), confidence)


def needed(row: Row, rate: float, confidence: float, power: float = POWER) -> int | None:
    """Return how many units a row needs to pass with probability ``power``, as `chance`; ``None`` where none would."""
    if row.statistic in PERCENTILES:
        return needed_for_percentile(rate, PERCENTILES[row.statistic], confidence, power)
    return needed_for_rate(rate, good_threshold(row), confidence, power)


def good_threshold(row: Row) -> float:
    """Return the threshold as a share of what is good: the mirror image where less is better."""
    return row.threshold if row.bound is Bound.AT_LEAST else 1 - row.threshold


def needed_units(row: Row, cells: Sequence[Cell], confidence: float) -> int | None:
    """Return how many units of a fresh run would decide a row one way or the other, by what was seen; 80 % power."""
    found = _needed(row, cells, confidence)
    return None if found is None else max(FEWEST_UNITS, found)


def _needed(row: Row, cells: Sequence[Cell], confidence: float) -> int | None:
    if row.statistic in PERCENTILES:
        return _needed_scenarios(row, [value for value in one_a_scenario(cells) if value is not None], confidence)
    values = values_of(cluster_means(cells, None))
    good = values if row.bound is Bound.AT_LEAST else 1 - values
    threshold = good_threshold(row)
    if not len(good):
        return None
    if float(good.mean()) < threshold:
        good, threshold = 1 - good, 1 - threshold
    if bool(np.isin(good, (0.0, 1.0)).all()):
        return needed_for_rate(float(good.mean()), threshold, confidence)
    return needed_for_mean(good, threshold, confidence)


def _needed_scenarios(row: Row, seconds: Sequence[float], confidence: float) -> int | None:
    if not seconds:
        return None
    q = PERCENTILES[row.statistic]
    within = sum(value <= row.threshold for value in seconds) / len(seconds)
    if within >= q:
        return needed_for_percentile(within, q, confidence)
    return needed_for_percentile(1 - within, 1 - q, confidence)
