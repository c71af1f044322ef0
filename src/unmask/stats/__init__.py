"""Intervals for rates, means, percentiles and ratios, two-sided and seeded.

Too little data is a result, `NotEnoughData`, never an interval of width zero: a
figure that rests on nothing must not look certain.

Which one to use:

==========================================  ======================
pass or fail                                `wilson`
the same, where a promise rests on the end  `clopper_pearson`
the same, drawn with unequal probabilities  `weighted_rate`
values in [0, 1]                            `bounded_mean`
the same, narrower, monotone in each value  `betting_mean`
means of anything else                      `bootstrap_mean`
two arms on the same items                  `paired_difference`
two groups of different items               `difference_interval`
how many times faster, cheaper              `ratio_interval`
p50, p95                                    `percentile_interval`
==========================================  ======================
"""

from unmask.stats.betting import betting_mean
from unmask.stats.binomial import at_most, mcnemar
from unmask.stats.intervals import (
    MIN_BOOTSTRAP,
    RESAMPLES,
    Floats,
    Interval,
    IntervalResult,
    NotEnoughData,
    Share,
    Values,
    bootstrap_mean,
    bounded_mean,
    clopper_pearson,
    difference_interval,
    effective_share,
    normal_quantile,
    paired_difference,
    percentile_interval,
    percentile_ranks,
    ratio_interval,
    resampled_means,
    weighted_rate,
    wilson,
    wilson_of_rate,
)

__all__ = [
    "MIN_BOOTSTRAP",
    "RESAMPLES",
    "Floats",
    "Interval",
    "IntervalResult",
    "NotEnoughData",
    "Share",
    "Values",
    "at_most",
    "betting_mean",
    "bootstrap_mean",
    "bounded_mean",
    "clopper_pearson",
    "difference_interval",
    "effective_share",
    "mcnemar",
    "normal_quantile",
    "paired_difference",
    "percentile_interval",
    "percentile_ranks",
    "ratio_interval",
    "resampled_means",
    "weighted_rate",
    "wilson",
    "wilson_of_rate",
]
