"""A model against another on the same scenarios."""

from collections.abc import Sequence

import numpy as np

from unmask.gate.cells import Cell, cells_of, cluster_means, scenario_means
from unmask.gate.gate_file import PERCENTILES, Bound, Row
from unmask.gate.response import SystemLabel
from unmask.gate.score import Scored
from unmask.gate.verdict import Paired, Verdict
from unmask.stats import Floats, Interval, NotEnoughData, betting_mean, mcnemar


def compare_row(row: Row, scored: Sequence[Scored], seeds: Sequence[int], confidence: float) -> Paired | None:
    """Return how a row's model differs from what it is held against; ``None`` for percentiles, which are not paired.

    Non-inferior is a model whose whole interval of the difference lies within the margin; that two systems cannot be
    told apart shows nothing. An answer without a mark is at its worst for each end.
    """
    if row.statistic in PERCENTILES:
        return None
    model, other = (cells_of(row, scored, label, seeds) for label in (SystemLabel.MODEL, SystemLabel.AGAINST))
    difference = paired_interval(model, other, confidence)
    clusters = _discordant(row, cluster_means(model, None), cluster_means(other, None))
    scenarios = _discordant(row, scenario_means(model, None), scenario_means(other, None))
    return Paired(
        difference=difference,
        clusters=clusters,
        clusters_p=mcnemar(*clusters),
        scenarios=scenarios,
        scenarios_p=mcnemar(*scenarios),
        verdict=None if row.margin is None else _non_inferior(row, difference, row.margin),
    )


def paired_interval(model: Sequence[Cell], other: Sequence[Cell], confidence: float) -> Interval | None:
    """Return the interval of the mean difference of clusters, model less other; ``None`` for fewer than two.

    A betting interval of the differences, moved from [-1, 1] to [0, 1]: it holds for every distribution, and where
    all clusters are alike it is not of zero width.
    """
    worst = _differences(model, other, 0.0, 1.0)
    best = _differences(model, other, 1.0, 0.0)
    known = _differences(model, other, None, None)
    low, high = betting_mean((worst + 1) / 2, confidence), betting_mean((best + 1) / 2, confidence)
    if isinstance(low, NotEnoughData) or isinstance(high, NotEnoughData) or not len(known):
        return None
    estimate = float(known.mean())
    return Interval(estimate=estimate, low=min(estimate, low.low * 2 - 1), high=max(estimate, high.high * 2 - 1))


def _differences(
    model: Sequence[Cell], other: Sequence[Cell], model_unscored: float | None, other_unscored: float | None
) -> Floats:
    left, right = cluster_means(model, model_unscored), cluster_means(other, other_unscored)
    return np.array([left[name] - right[name] for name in sorted(left.keys() & right.keys())], dtype=np.float64)


def _discordant(row: Row, model: dict[str, float], other: dict[str, float]) -> tuple[int, int]:
    """Count what the model alone passes whole, and what the other alone does."""
    good = 1.0 if row.bound is Bound.AT_LEAST else 0.0
    both = [(model[name] == good, other[name] == good) for name in sorted(model.keys() & other.keys())]
    return sum(a and not b for a, b in both), sum(b and not a for a, b in both)


def _non_inferior(row: Row, difference: Interval | None, margin: float) -> Verdict:
    if difference is None:
        return Verdict.INCONCLUSIVE
    ends = (difference.low, difference.high)
    worse, better = ends if row.bound is Bound.AT_LEAST else (-ends[1], -ends[0])
    if worse >= -margin:
        return Verdict.PASS
    return Verdict.FAIL if better < -margin else Verdict.INCONCLUSIVE
