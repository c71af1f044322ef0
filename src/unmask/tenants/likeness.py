"""Whether a tenant's traffic looks like the service class that it asks for, or like another one.

A class with a short queue invites batches to ask for it. What a tenant asks for is known; here is what it looks like.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from unmask.stats import MIN_BOOTSTRAP, RESAMPLES, Floats, Interval, IntervalResult, NotEnoughData, resampled_means
from unmask.tenants.traffic import Hour

NEARER = 0.5
"""Beyond this position traffic is nearer to the other class than to the one asked for."""
ERROR = 0.05
MOST_HOURS = 500
"""So many hours of other tenants at most are compared with; they are drawn."""
MOST_RESAMPLES = 20_000
LEAST_VARIANCE = 0.05**2
"""Of a feature in log units: a difference of a twentieth is of no account, however alike the hours are otherwise."""
_TESTS_A_SAMPLING = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """Where a tenant's traffic of a class lies between that class and another one.

    Attributes:
        asked: the class that it asks for.
        other: the class that it is compared with.
        hours: hours in which it sent requests.
        position: 0 where its traffic is as that of other tenants in the class asked for, 1 as of those in the other.
        means: for each of `unmask.tenants.traffic.FEATURES` its own mean, that of the class asked for, and that of the
            other one; all as log(1 + x).
    """

    tenant: str
    asked: str
    other: str
    hours: int
    position: IntervalResult
    means: tuple[tuple[float, float, float], ...] = ()

    @property
    def is_named(self) -> bool:
        """Whether the whole interval is nearer to the other class."""
        return isinstance(self.position, Interval) and self.position.low > NEARER


@dataclass(frozen=True, slots=True, kw_only=True)
class _Groups:
    """Features of hours, one row an hour: the tenant's own, and others' of both classes."""

    own: Floats
    asked: Floats
    other: Floats


def likenesses(hours: Sequence[Hour], seed: int) -> tuple[Likeness, ...]:
    """Compare each tenant in each class that it asks for with every other class.

    The position is that of a linear discriminant with the features' pooled variances (Fisher, 1936, taken feature by
    feature): the tenant's mean, projected on the line from the class asked for to the other one. The tenant itself
    counts for neither. Intervals come from resampling the hours of all three groups, so that two classes which cannot
    be told apart give an interval without end rather than a verdict. They are widened for the number of comparisons
    (Bonferroni): at a true position within 0.5, in 95 of 100 reports no tenant is named.
    """
    pairs = list(_pairs(hours))
    tests = sum(1 for *_, groups in pairs if _least(groups) >= MIN_BOOTSTRAP)
    rng = np.random.default_rng(seed)
    return tuple(
        Likeness(
            tenant=tenant,
            asked=asked,
            other=other,
            hours=len(groups.own),
            position=_position(groups, ERROR / max(tests, 1), _resamples(tests), rng),
            means=_means(groups),
        )
        for tenant, asked, other, groups in pairs
    )


def _pairs(hours: Sequence[Hour]) -> Iterator[tuple[str, str, str, _Groups]]:
    tenants = np.array([hour.tenant for hour in hours])
    classes = np.array([hour.service_class for hour in hours])
    features = np.array([hour.features for hour in hours], dtype=np.float64)
    for asked, other in permutations(sorted(set(classes.tolist())), 2):
        for tenant in sorted(set(tenants[classes == asked].tolist())):
            is_own = tenants == tenant
            groups = _Groups(
                own=features[is_own & (classes == asked)],
                asked=features[~is_own & (classes == asked)],
                other=features[~is_own & (classes == other)],
            )
            yield tenant, asked, other, groups


def _least(groups: _Groups) -> int:
    return min(len(groups.own), len(groups.asked), len(groups.other))


def _resamples(tests: int) -> int:
    """Return more of them the farther out the quantiles are."""
    return min(RESAMPLES * (1 + tests // _TESTS_A_SAMPLING), MOST_RESAMPLES)


def _position(groups: _Groups, error: float, resamples: int, rng: np.random.Generator) -> IntervalResult:
    for rows, whose in ((groups.own, "its own"), (groups.asked, "others in the class"), (groups.other, "the other")):
        if len(rows) < MIN_BOOTSTRAP:
            return NotEnoughData(n=len(rows), reason=f"{len(rows)} hours of {whose}, at least {MIN_BOOTSTRAP} needed")
    variance = (groups.asked.var(axis=0, ddof=1) + groups.other.var(axis=0, ddof=1)) / 2
    scale = np.sqrt(np.maximum(variance, LEAST_VARIANCE))
    own, asked, other = (resampled_means(_drawn(rows, rng).T / scale[:, None], rng, resamples) for rows in _all(groups))
    positions = _projected(own, asked, other)
    estimate = _projected(*((rows.mean(axis=0) / scale)[:, None] for rows in _all(groups)))
    low, high = np.quantile(positions, (error / 2, 1 - error / 2))
    middle = float(estimate[0])
    return Interval(estimate=middle, low=min(float(low), middle), high=max(float(high), middle))


def _projected(own: Floats, asked: Floats, other: Floats) -> Floats:
    """Return positions of scaled means; features in rows, resamples in columns."""
    line = other - asked
    length = np.maximum((line**2).sum(axis=0), np.finfo(np.float64).tiny)
    found: Floats = ((own - asked) * line).sum(axis=0) / length
    return found


def _drawn(rows: Floats, rng: np.random.Generator) -> Floats:
    return rows if len(rows) <= MOST_HOURS else rows[rng.choice(len(rows), MOST_HOURS, replace=False)]


def _means(groups: _Groups) -> tuple[tuple[float, float, float], ...]:
    if _least(groups) == 0:
        return ()
    own, asked, other = (rows.mean(axis=0).tolist() for rows in _all(groups))
    return tuple(zip(own, asked, other, strict=True))


def _all(groups: _Groups) -> tuple[Floats, Floats, Floats]:
    return groups.own, groups.asked, groups.other
