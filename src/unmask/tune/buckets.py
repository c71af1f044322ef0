"""Which few budgets a policy deals out."""

import math
from collections.abc import Collection, Sequence
from itertools import combinations

from unmask.policy.policy import BucketSteps
from unmask.types import Bucket

MOST = len(Bucket)


def choose_buckets(grid: Sequence[int], wanted: Sequence[int]) -> tuple[BucketSteps, ...]:
    """Return at most five buckets, the largest of ``wanted`` among them, that ``wanted`` budgets round up to cheaply.

    With five different budgets or fewer each is a bucket, and grid points that halve the widest gaps fill up the rest.
    With more, those five are taken that the wanted budgets round up to with the least steps added, counted in log2
    and as often as each is wanted.
    """
    chosen = sorted(set(wanted))
    if len(chosen) > MOST:
        inner, last = chosen[:-1], chosen[-1]
        options = [[*pick, last] for pick in combinations(inner, MOST - 1)]
        chosen = min(options, key=lambda option: _added(wanted, option))
    while len(chosen) < MOST:
        between = [step for step in grid if chosen[0] < step < chosen[-1] and step not in chosen]
        if not between:
            break
        chosen = sorted((*chosen, max(between, key=lambda step: _gap(step, chosen))))
    return tuple(BucketSteps(bucket=bucket, max_steps=step) for bucket, step in zip(Bucket, chosen, strict=False))


def round_up(step: int, buckets: Collection[int]) -> int:
    """Return the least bucket that has as many steps; more than all of them is a ``ValueError``."""
    return min(bucket for bucket in buckets if bucket >= step)


def _added(wanted: Sequence[int], buckets: Collection[int]) -> float:
    return sum(math.log2(round_up(step, buckets) / step) for step in wanted)


def _gap(step: int, chosen: Sequence[int]) -> float:
    """Return how far, as a factor, a budget lies from the nearest chosen one."""
    return min(max(step / other, other / step) for other in chosen)
