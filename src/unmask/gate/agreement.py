"""How far raters agree beyond chance, with intervals over items.

Ratings are rows of items with a rating of each rater, ``None`` where there is none. Nearly all answers pass; there
Cohen's, Fleiss' and Krippendorff's coefficients fall towards 0 however well raters agree, since chance is taken from
the raters' own shares, while Gwet's AC1 does not. So each is told beside the others.

Where all ratings are the same there is no chance to be better than: the kappas and alpha are `NotEnoughData`, and AC1
is 1.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias, TypeVar

import numpy as np

from unmask.stats import Floats, Interval, IntervalResult, NotEnoughData

Rating = TypeVar("Rating", bound=Hashable)
Ratings: TypeAlias = Sequence[Sequence[Rating | None]]
Patterns: TypeAlias = Mapping[tuple[Rating, ...], float]
"""How many items have which ratings, in any order of raters: few, however many items there are."""
Coefficient: TypeAlias = "float | NotEnoughData"

MIN_ITEMS = 10
"""Below this many items resampling them tells little of others."""
RESAMPLES = 1000
_MOST_UNDEFINED = 0.05
_ALL_SAME = "all ratings are the same"
_NO_PAIRS = NotEnoughData(n=0, reason="no item has two ratings")


class Level(StrEnum):
    """How far apart two ratings are: the same or not, or by how many others lie between them."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A coefficient and, where there is an honest one, its interval."""

    value: Coefficient
    interval: IntervalResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """All coefficients of some ratings.

    Attributes:
        items: with two ratings or more.
        observed: share of pairs of ratings of one item that are the same.
        kappa: Fleiss' for any number of raters.
    """

    items: int
    observed: Coefficient
    kappa: Figure
    ac1: Figure
    alpha: Figure


def agreement_of(ratings: Ratings[float], seed: int, level: Level = Level.ORDINAL) -> Agreement:
    """Return the coefficients of ratings with 95 % intervals, items resampled."""
    patterns = _patterns(ratings)
    return Agreement(
        items=int(sum(_pairs(patterns).values())),
        observed=observed_agreement(ratings),
        kappa=_figure(_fleiss, patterns, seed),
        ac1=_figure(_gwet, patterns, seed),
        alpha=_figure(lambda drawn: _krippendorff(drawn, level), patterns, seed),
    )


def cohen_kappa(first: Sequence[Rating], second: Sequence[Rating]) -> Coefficient:
    """Return Cohen's kappa of two raters (Educational and Psychological Measurement, 1960)."""
    if len(first) != len(second):
        msg = f"a rating of each rater for each item, got {len(first)!r} and {len(second)!r}"
        raise ValueError(msg)
    n = len(first)
    if not n:
        return NotEnoughData(n=0, reason="no items")
    observed = sum(a == b for a, b in zip(first, second, strict=True)) / n
    left, right = Counter(first), Counter(second)
    return _beyond(observed, sum(left[one] * right[one] for one in left) / n**2, n)


def fleiss_kappa(ratings: Ratings[Rating]) -> Coefficient:
    """Return Fleiss' kappa (Psychological Bulletin, 1971), for items with unequal numbers of ratings too.

    Observed agreement is the mean over items of the share of agreeing pairs, chance that of all ratings pooled.
    """
    return _fleiss(_patterns(ratings))


def gwet_ac1(ratings: Ratings[Rating], categories: int | None = None) -> Coefficient:
    """Return Gwet's AC1 (British Journal of Mathematical and Statistical Psychology, 2008).

    Args:
        ratings: items of ratings.
        categories: how many there are, where some may not have been used; at least 2.
    """
    return _gwet(_patterns(ratings), categories)


def krippendorff_alpha(ratings: Ratings[float], level: Level) -> Coefficient:
    """Return Krippendorff's alpha (Content Analysis, 2004, chapter 11); ratings may be missing."""
    return _krippendorff(_patterns(ratings), level)


def observed_agreement(ratings: Ratings[Rating]) -> Coefficient:
    """Return the mean over items of the share of pairs of ratings that are the same."""
    rows = _pairs(_patterns(ratings))
    return _mean_agreement(rows) if rows else _NO_PAIRS


def _fleiss(patterns: Patterns[Rating]) -> Coefficient:
    rows = _pairs(patterns)
    if not rows:
        return _NO_PAIRS
    pooled: dict[Rating, float] = {}
    for row, weight in rows.items():
        for one in row:
            pooled[one] = pooled.get(one, 0.0) + weight
    total = sum(pooled.values())
    # One category alone is told by its number, as sums of shares may miss 1 by a bit.
    chance = 1.0 if len(pooled) == 1 else sum((count / total) ** 2 for count in pooled.values())
    return _beyond(_mean_agreement(rows), chance, int(sum(rows.values())))


def _gwet(patterns: Patterns[Rating], categories: int | None = None) -> Coefficient:
    rows = _pairs(patterns)
    if not rows:
        return _NO_PAIRS
    items = sum(patterns.values())
    shares: dict[Rating, float] = {}
    for row, weight in patterns.items():
        for one in row:
            shares[one] = shares.get(one, 0.0) + weight / len(row) / items
    q = max(categories or 0, len(shares), 2)
    chance = sum(share * (1 - share) for share in shares.values()) / (q - 1)
    return _beyond(_mean_agreement(rows), 0.0 if len(shares) == 1 else chance, int(sum(rows.values())))


def _krippendorff(patterns: Patterns[float], level: Level) -> Coefficient:
    rows = _pairs(patterns)
    if not rows:
        return _NO_PAIRS
    values = sorted({one for row in rows for one in row})
    if len(values) == 1:
        return NotEnoughData(n=int(sum(rows.values())), reason=_ALL_SAME)
    place = {value: number for number, value in enumerate(values)}
    coincidences = np.zeros((len(values), len(values)))
    for row, weight in rows.items():
        counts = np.bincount([place[one] for one in row], minlength=len(values)).astype(float)
        coincidences += weight * (np.outer(counts, counts) - np.diag(counts)) / (len(row) - 1)
    margins = coincidences.sum(axis=1)
    distance = _distance(margins, level)
    expected = (np.outer(margins, margins) * distance).sum() / (margins.sum() - 1)
    return float(1 - (coincidences * distance).sum() / expected)


def _figure(coefficient: Callable[[Patterns[float]], Coefficient], patterns: Patterns[float], seed: int) -> Figure:
    value = coefficient(patterns)
    interval = value if isinstance(value, NotEnoughData) else _interval(value, coefficient, patterns, seed)
    return Figure(value=value, interval=interval)


def _interval(
    value: float, coefficient: Callable[[Patterns[float]], Coefficient], patterns: Patterns[float], seed: int
) -> IntervalResult:
    """Return the 95 % percentiles of a coefficient's values when items are drawn anew.

    Where more than one draw in twenty has no value, as when most have a single rating throughout, percentiles of the
    others would look surer than they are: `NotEnoughData`. So it is where no draw differs from another.
    """
    n = int(sum(patterns.values()))
    if n < MIN_ITEMS:
        return NotEnoughData(n=n, reason=f"{n} items, at least {MIN_ITEMS} needed")
    rows = list(patterns)
    shares = np.array([patterns[row] for row in rows]) / n
    draws = np.random.default_rng(seed).multinomial(n, shares, size=RESAMPLES)
    found = [coefficient({row: float(count) for row, count in zip(rows, draw, strict=True) if count}) for draw in draws]
    values = [one for one in found if not isinstance(one, NotEnoughData)]
    if len(values) < (1 - _MOST_UNDEFINED) * RESAMPLES:
        return NotEnoughData(n=n, reason="too few items differ to tell an interval")
    low, high = np.quantile(values, (0.025, 0.975))
    if low == high:
        return NotEnoughData(n=n, reason="all items are alike, so resampling shows no spread")
    return Interval(estimate=value, low=min(float(low), value), high=max(float(high), value))


def _patterns(ratings: Ratings[Rating]) -> Patterns[Rating]:
    """Count items by their ratings; those without any are left out."""
    rows = (tuple(sorted((one for one in row if one is not None), key=repr)) for row in ratings)
    return {row: float(count) for row, count in Counter(rows).items() if row}


def _pairs(patterns: Patterns[Rating]) -> Patterns[Rating]:
    return {row: weight for row, weight in patterns.items() if len(row) > 1}


def _mean_agreement(rows: Patterns[Rating]) -> float:
    agreeing = sum(
        weight * sum(count * (count - 1) for count in Counter(row).values()) / (len(row) * (len(row) - 1))
        for row, weight in rows.items()
    )
    return agreeing / sum(rows.values())


def _beyond(observed: float, chance: float, n: int) -> Coefficient:
    if chance >= 1:
        return NotEnoughData(n=n, reason=_ALL_SAME)
    return (observed - chance) / (1 - chance)


def _distance(margins: Floats, level: Level) -> Floats:
    k = len(margins)
    if level is Level.NOMINAL:
        return 1.0 - np.eye(k)
    sums = np.concatenate(([0.0], np.cumsum(margins)))
    between = np.array(
        [[sums[max(a, b) + 1] - sums[min(a, b)] - (margins[a] + margins[b]) / 2 for b in range(k)] for a in range(k)]
    )
    squared: Floats = between**2
    return squared
