"""Tells whether the traffic is still what a policy was measured on.

Each feature of the requests since is compared with the reference, the requests
around the policy's promotion, by a permutation test on the Kolmogorov-Smirnov
distance: it holds for every distribution, ties included. Many features are
looked at, so p-values are adjusted by Holm (1979): the chance of any false
alarm stays below ``alpha``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unmask.stats import NotEnoughData, Values

MIN_REQUESTS = 500
"""Fewest requests on either side."""
PERMUTATIONS = 4000
ALPHA = 0.05
_CELLS_A_CHUNK = 1 << 22

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureDrift:
    """How far one feature has moved.

    Attributes:
        distance: largest difference of the two distribution functions, 0 to 1.
        p_value: of that distance if nothing had moved; ``adjusted`` for the number of features (Holm).
        before: mean in the reference; ``after``: since.
    """

    feature: str
    distance: float
    p_value: float
    adjusted: float
    before: float
    after: float

    def has_drifted(self, alpha: float = ALPHA) -> bool:
        """Whether chance is no good explanation."""
        return self.adjusted <= alpha


def find_drift(
    reference: Mapping[str, Values],
    recent: Mapping[str, Values],
    seed: int,
    *,
    permutations: int = PERMUTATIONS,
) -> tuple[FeatureDrift, ...] | NotEnoughData:
    """Compare features by name, the most drifted first.

    Both sides hold one value a request for the same features. A feature of which
    either side has less than `MIN_REQUESTS` values makes all of it `NotEnoughData`:
    leaving it out would hide what matters.
    """
    if reference.keys() != recent.keys():
        message = f"features differ: {sorted(reference)} before, {sorted(recent)} since"
        raise ValueError(message)
    sizes = [len(values) for side in (reference, recent) for values in side.values()]
    if not sizes or min(sizes) < MIN_REQUESTS:
        fewest = min(sizes, default=0)
        return NotEnoughData(n=fewest, reason=f"{fewest} requests, at least {MIN_REQUESTS} needed on either side")
    names = sorted(reference)
    rng = np.random.default_rng(seed)
    pairs = [(np.asarray(reference[name], np.float64), np.asarray(recent[name], np.float64)) for name in names]
    tests = [permutation_test(before, after, rng, permutations) for before, after in pairs]
    adjusted = holm([p_value for _, p_value in tests])
    found = [
        FeatureDrift(
            feature=name,
            distance=distance,
            p_value=p_value,
            adjusted=level,
            before=float(before.mean()),
            after=float(after.mean()),
        )
        for name, (before, after), (distance, p_value), level in zip(names, pairs, tests, adjusted, strict=True)
    ]
    return tuple(sorted(found, key=lambda entry: (entry.adjusted, -entry.distance)))


def permutation_test(
    before: Floats, after: Floats, rng: np.random.Generator, permutations: int = PERMUTATIONS
) -> tuple[float, float]:
    """Return the Kolmogorov-Smirnov distance of two samples, and its p-value over random relabellings.

    The observed labelling counts as one of them (Phipson and Smyth 2010), so a p-value is never 0.
    """
    pooled = np.concatenate((before, after))
    order = np.argsort(pooled, kind="stable")
    ranked = pooled[order]
    # Within a run of equal values the distribution functions are compared behind its last.
    ends = np.append(ranked[1:] != ranked[:-1], True)
    steps = np.where(np.arange(len(pooled)) < len(before), 1.0 / len(before), -1.0 / len(after))
    observed = float(_distances(steps[order][None, :], ends)[0])
    chunk = max(1, _CELLS_A_CHUNK // len(pooled))
    as_far = 0
    for start in range(0, permutations, chunk):
        count = min(chunk, permutations - start)
        shuffled = rng.permuted(np.broadcast_to(steps, (count, len(steps))), axis=1)
        # Sums of the same steps in another order differ in the last bits.
        as_far += int((_distances(shuffled, ends) >= observed - 1e-12).sum())
    return observed, (1 + as_far) / (1 + permutations)


def _distances(steps: Floats, ends: NDArray[np.bool_]) -> Floats:
    """Return the largest distance per row of steps, ``[rows, values]``."""
    distances: Floats = np.abs(np.cumsum(steps, axis=1)[:, ends]).max(axis=1)
    return distances


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return p-values adjusted by Holm's step-down method (1979), in the order given."""
    values = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    factors = np.arange(len(values), 0, -1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(values[order] * factors))
    return tuple(adjusted.tolist())
