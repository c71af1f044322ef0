"""Up to which load one way of serving is the faster one."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unmask.stats import MIN_BOOTSTRAP, RESAMPLES, Floats, NotEnoughData


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing:
    """The load from which the other way is the faster one, with a 95 % interval.

    ``math.inf`` stands for more than the largest load measured, and the smallest load measured for no more than that:
    what lies outside of what was measured is not made up.
    """

    load: float
    low: float
    high: float


def crossing(loads: Sequence[float], ratios: Sequence[float]) -> float:
    """Return the load at which a ratio first falls from above 1 to below, between loads by a line over logarithms.

    Args:
        loads: ascending, above 0.
        ratios: how many times as fast the one way is at each, above 0.
    """
    logs = [math.log(ratio) for ratio in ratios]
    if logs[0] <= 0:
        return float(loads[0])
    for (left, high), (right, low) in zip(
        zip(loads, logs, strict=True), zip(loads[1:], logs[1:], strict=True), strict=False
    ):
        if low <= 0:
            return float(left * (right / left) ** (high / (high - low)))
    return math.inf


def crossing_interval(
    loads: Sequence[float], slower: Floats, faster: Floats, seed: int, *, resamples: int = RESAMPLES
) -> Crossing | NotEnoughData:
    """Return the crossing of mean times and its bootstrap interval; rounds are resampled as a whole.

    Args:
        loads: ascending.
        slower: ``[rounds, loads]``, seconds an answer of the way that is slower at small loads.
        faster: same, of the other.
        seed: of resampling.
        resamples: how many.
    """
    rounds = len(slower)
    point = crossing(loads, (slower.mean(axis=0) / faster.mean(axis=0)).tolist())
    if rounds < MIN_BOOTSTRAP:
        return NotEnoughData(n=rounds, reason=f"{rounds} rounds, at least {MIN_BOOTSTRAP} needed")
    picks = np.random.default_rng(seed).integers(rounds, size=(resamples, rounds))
    ratios = slower[picks].mean(axis=1) / faster[picks].mean(axis=1)
    found = sorted(crossing(loads, row) for row in ratios.tolist())
    # Ends are values that were seen: between a number and infinity there is nothing to interpolate.
    low, high = found[math.floor(0.025 * (resamples - 1))], found[math.ceil(0.975 * (resamples - 1))]
    return Crossing(load=point, low=min(low, point), high=max(high, point))
