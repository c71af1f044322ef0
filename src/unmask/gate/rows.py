"""The verdict of one row from the marks of one run.

An interval rests on one mean a cluster. Where every mean is 0 or 1 it is Wilson's; else it is a betting interval, or
whatever of Wilson's is narrower when a cluster that is neither counts as failed for the lower end and as passed for the
upper one. Both ends rise, or stay, with every mark, so that a mark put right never takes a pass away. On clusters of 0
and 1 a betting interval is no narrower than the exact one, so that taking the narrower costs no coverage there; the
tests simulate what it costs elsewhere.

An answer without a mark is 0 for the lower end and 1 for the upper one.
"""

import math
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from unmask.gate.cells import Cell, cells_of, cluster_means, counts_of, one_a_scenario, values_of
from unmask.gate.counted import counted
from unmask.gate.gate_file import PERCENTILES, Bound, Row
from unmask.gate.needs import FEWEST_UNITS, can_pass, needed_units
from unmask.gate.response import SystemLabel
from unmask.gate.score import Metric, Scored
from unmask.gate.verdict import Counts, RowResult, Verdict
from unmask.stats import Floats, Interval, NotEnoughData, betting_mean, percentile_ranks, wilson, wilson_of_rate


def decide_row(row: Row, scored: Sequence[Scored], seeds: Sequence[int], confidence: float) -> RowResult:
    """Return the verdict of a row on the model of a run, without what it is held against."""
    cells = cells_of(row, scored, SystemLabel.MODEL, seeds)
    interval, units = figure(row, cells, confidence)
    counts = counts_of(cells, units)
    verdict, why = _verdict(row, interval, counts)
    possible = can_pass(row, units, confidence)
    return RowResult(
        row=row,
        verdict=verdict,
        interval=interval,
        method=_method(row, cells),
        counts=counts,
        why=why,
        design_effect=None if row.statistic in PERCENTILES else design_effect_interval(cells, confidence),
        needed=needed_units(row, cells, confidence) if verdict is Verdict.INCONCLUSIVE else None,
        can_pass=possible,
    )


def figure(row: Row, cells: Sequence[Cell], confidence: float) -> tuple[Interval | None, int]:
    """Return a row's interval and how many units it rests on; no interval where there are too few of them."""
    if row.statistic in PERCENTILES:
        values = one_a_scenario(cells)
        return percentile_of(values, PERCENTILES[row.statistic], confidence), len(values)
    low, high = (values_of(cluster_means(cells, unscored)) for unscored in (0.0, 1.0))
    return mean_of(low, high, values_of(cluster_means(cells, None)), confidence), len(low)


def mean_of(low: Floats, high: Floats, scored: Floats, confidence: float) -> Interval | None:
    """Return the interval that decides rates and means.

    Args:
        low: shape (clusters,), each cluster's mean with 0 in place of missing marks; ``high`` with 1.
        high: see ``low``.
        scored: means of the clusters that have marks, without what is missing.
        confidence: two-sided.
    """
    if len(low) < FEWEST_UNITS or not len(scored):
        return None
    estimate = float(scored.mean())
    lower, upper = betting_mean(low, confidence), betting_mean(high, confidence)
    whole, touched = (
        wilson(int((low >= 1).sum()), len(low), confidence),
        wilson(int((high > 0).sum()), len(high), confidence),
    )
    assert not isinstance(lower, NotEnoughData)
    assert not isinstance(upper, NotEnoughData)
    assert not isinstance(whole, NotEnoughData)
    assert not isinstance(touched, NotEnoughData)
    return Interval(
        estimate=estimate,
        low=min(estimate, max(lower.low, whole.low)),
        high=max(estimate, min(upper.high, touched.high)),
    )


def percentile_of(values: Sequence[float | None], q: float, confidence: float) -> Interval | None:
    """Return the interval of a percentile by order statistics; what is missing is slowest for the upper end, and last.

    An end that lies beyond all values is 0 or infinite. ``None`` without any value.
    """
    known = sorted(value for value in values if value is not None)
    if not known:
        return None
    n, missing = len(values), len(values) - len(known)
    low_rank, high_rank = percentile_ranks(n, q, confidence)
    estimate = float(np.quantile(known, q, method="inverted_cdf"))
    low = known[low_rank - missing - 1] if low_rank > missing else 0.0
    high = known[high_rank - 1] if high_rank <= len(known) else math.inf
    return Interval(estimate=estimate, low=min(low, estimate), high=max(high, estimate))


def design_effect_interval(cells: Sequence[Cell], confidence: float) -> Interval | None:
    """Return Wilson's interval of all scored answers with the effective number that their clusters leave (Kish, 1965).

    Without any variance it falls back on the number of clusters. One failure brings variance back and with it up to all
    answers: so it is not monotone, and is shown only.
    """
    by_cluster: defaultdict[str, list[float]] = defaultdict(list)
    for cell in cells:
        if cell.value is not None:
            by_cluster[cell.cluster].append(cell.value)
    if len(by_cluster) < FEWEST_UNITS:
        return None
    n, clusters = sum(map(len, by_cluster.values())), len(by_cluster)
    rate = sum(map(sum, by_cluster.values())) / n
    between = sum((sum(values) - len(values) * rate) ** 2 for values in by_cluster.values())
    variance = between / n**2 * clusters / (clusters - 1)
    simple = rate * (1 - rate) / n
    effective = clusters if variance <= 0 or simple <= 0 else n / max(1.0, variance / simple)
    return wilson_of_rate(rate, effective, confidence)


def _method(row: Row, cells: Sequence[Cell]) -> str:
    if row.statistic in PERCENTILES:
        return "order statistics of scenarios"
    means = np.concatenate([values_of(cluster_means(cells, unscored)) for unscored in (0.0, 1.0)])
    return "Wilson on clusters" if bool(np.isin(means, (0.0, 1.0)).all()) else "betting on clusters"


def _nothing(metric: Metric) -> str:
    if metric is Metric.NATURALNESS:
        return "code has no mark for naturalness: score with --judge"
    return "no scenario that was asked has this metric, or none has a mark of it"


def _verdict(row: Row, interval: Interval | None, counts: Counts) -> tuple[Verdict, str]:
    if not counts.answers:
        return Verdict.INCONCLUSIVE, _nothing(row.metric)
    if interval is None:
        return Verdict.INCONCLUSIVE, (
            f"too little to go by: {counted(counts.units, row.unit)}, {counted(counts.unscored, 'answer')} unscored"
        )
    if counts.unscored_share > row.most_unscored:
        return Verdict.INCONCLUSIVE, (
            f"{counts.unscored} of {counts.answers} answers are unscored, allowed: a share of {row.most_unscored:g}"
        )
    worse, better = (interval.low, interval.high)
    if row.bound is Bound.AT_MOST:
        worse, better = better, worse
    if row.clears(worse):
        return Verdict.PASS, "the whole interval clears the threshold"
    if not row.clears(better):
        return Verdict.FAIL, "the whole interval misses the threshold"
    return Verdict.INCONCLUSIVE, "the threshold is inside the interval"
