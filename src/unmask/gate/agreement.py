"""How far raters agree beyond chance, with intervals over items.

Ratings are rows of items with a rating of each rater, ``None`` where there is none. Nearly all answers pass; there
Cohen's, Fleiss' and Krippendorff's coefficients fall towards 0 however well raters agree, since chance is taken from
the raters' own shares, while Gwet's AC1 does not. So each is told beside the others.

Where all ratings are the same there is no chance to be better than: the kappas and alpha are `NotEnoughData`, and AC1
is 1.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias, TypeVar

import numpy as np

from unmask.stats import Floats, Interval, IntervalResult, NotEnoughData

Rating = TypeVar("Rating", bound=Hashable)
Ratings: TypeAlias = Sequence[Sequence[Rating | None]]
Coefficient: TypeAlias = "float | NotEnoughData"

MIN_ITEMS = 10
"""Below this many items resampling them tells little of others."""
RESAMPLES = 1000
_MOST_UNDEFINED = 0.05


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
    rated = [row for row in ratings if sum(one is not None for one in row) > 1]
    return Agreement(
        items=len(rated),
        observed=observed_agreement(rated),
        kappa=_figure(fleiss_kappa, rated, seed),
        ac1=_figure(gwet_ac1, rated, seed),
        alpha=_figure(lambda rows: krippendorff_alpha(rows, level), rated, seed),
    )


def _figure(coefficient: Callable[[Ratings[float]], Coefficient], ratings: Ratings[float], seed: int) -> Figure:
    return Figure(value=coefficient(ratings), interval=with_interval(coefficient, ratings, seed))


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
    rows = _rows(ratings)
    if not rows:
        return _no_pairs(ratings)
    pooled: Counter[Rating] = Counter(one for row in rows for one in row)
    total = sum(pooled.values())
    chance = sum((count / total) ** 2 for count in pooled.values())
    return _beyond(_mean_agreement(rows), chance, len(rows))


def gwet_ac1(ratings: Ratings[Rating], categories: int | None = None) -> Coefficient:
    """Return Gwet's AC1 (British Journal of Mathematical and Statistical Psychology, 2008).

    Args:
        ratings: items of ratings.
        categories: how many there are, where some may not have been used; at least 2.
    """
    rows = _rows(ratings)
    if not rows:
        return _no_pairs(ratings)
    everything = [[one for one in row if one is not None] for row in ratings]
    kept = [row for row in everything if row]
    shares: dict[Rating, float] = {}
    for row in kept:
        for one in row:
            shares[one] = shares.get(one, 0.0) + 1 / len(row)
    q = max(categories or 0, len(shares), 2)
    means = [share / len(kept) for share in shares.values()]
    chance = sum(mean * (1 - mean) for mean in means) / (q - 1)
    return _beyond(_mean_agreement(rows), chance, len(rows))


def krippendorff_alpha(ratings: Ratings[float], level: Level) -> Coefficient:
    """Return Krippendorff's alpha (Content Analysis, 2004, chapter 11); ratings may be missing."""
    rows = _rows(ratings)
    if not rows:
        return _no_pairs(ratings)
    values = sorted({one for row in rows for one in row})
    place = {value: number for number, value in enumerate(values)}
    coincidences = np.zeros((len(values), len(values)))
    for row in rows:
        counts = np.zeros(len(values))
        for one in row:
            counts[place[one]] += 1
        coincidences += (np.outer(counts, counts) - np.diag(counts)) / (len(row) - 1)
    margins = coincidences.sum(axis=1)
    distance = _distance(margins, level)
    n = margins.sum()
    expected = (np.outer(margins, margins) * distance).sum() / (n - 1)
    if expected == 0:
        return NotEnoughData(n=len(rows), reason="all ratings are the same")
    return float(1 - (coincidences * distance).sum() / expected)


def observed_agreement(ratings: Ratings[Rating]) -> Coefficient:
    """Return the mean over items of the share of pairs of ratings that are the same."""
    rows = _rows(ratings)
    return _mean_agreement(rows) if rows else _no_pairs(ratings)


def with_interval(
    coefficient: Callable[[Ratings[Rating]], Coefficient],
    ratings: Ratings[Rating],
    seed: int,
    *,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
) -> IntervalResult:
    """Return a coefficient with the percentiles of its values when items are drawn anew.

    Where more than one draw in twenty has no value, as when most have a single rating throughout, percentiles of the
    others would look surer than they are: `NotEnoughData`. Ratings that all agree have an interval of width zero for
    AC1, which no resampling can widen, and so get none.
    """
    value = coefficient(ratings)
    if isinstance(value, NotEnoughData):
        return value
    if len(ratings) < MIN_ITEMS:
        return NotEnoughData(n=len(ratings), reason=f"{len(ratings)} items, at least {MIN_ITEMS} needed")
    rng = np.random.default_rng(seed)
    drawn = [coefficient([ratings[i] for i in rng.integers(len(ratings), size=len(ratings))]) for _ in range(resamples)]
    values = [one for one in drawn if not isinstance(one, NotEnoughData)]
    if len(values) < (1 - _MOST_UNDEFINED) * resamples:
        return NotEnoughData(n=len(ratings), reason="too few items differ to tell an interval")
    tail = (1 - confidence) / 2
    low, high = np.quantile(values, (tail, 1 - tail))
    if low == high:
        return NotEnoughData(n=len(ratings), reason=f"all items alike: {value:.3f}, with no spread to tell an interval")
    return Interval(estimate=value, low=min(float(low), value), high=max(float(high), value))


def _rows(ratings: Ratings[Rating]) -> list[list[Rating]]:
    """Return the ratings of items that have at least two."""
    rows = [[one for one in row if one is not None] for row in ratings]
    return [row for row in rows if len(row) > 1]


def _mean_agreement(rows: Sequence[Sequence[Rating]]) -> float:
    shares = [sum(count * (count - 1) for count in Counter(row).values()) / (len(row) * (len(row) - 1)) for row in rows]
    return sum(shares) / len(shares)


def _beyond(observed: float, chance: float, n: int) -> Coefficient:
    if chance >= 1:
        return NotEnoughData(n=n, reason="all ratings are the same")
    return (observed - chance) / (1 - chance)


def _no_pairs(ratings: Ratings[Rating]) -> NotEnoughData:
    return NotEnoughData(n=len(ratings), reason="no item has two ratings")


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
