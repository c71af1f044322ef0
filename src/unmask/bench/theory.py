"""What alignment can reach at best: the useful share of a batch whose rows all wait for the slowest.

Of batches drawn at random from the steps that requests of a bucket take, as in
multi-bin batching (Guldogan et al., arXiv 2412.04504): their mean over the mean
of the largest of as many as the batch has rows. For steps spread evenly from a
to b in k bins and rows B that is (a+b)/2 over (a+b)/2 + (b−a)/k·(B−1)/(2(B+1)).
"""

from collections.abc import Mapping, Sequence

import numpy as np

from unmask.types import Bucket


def expected_largest(steps: Sequence[int], rows: int) -> float:
    """Return the mean of the largest of ``rows`` values drawn from these."""
    ranked = np.sort(np.asarray(steps, dtype=np.float64))
    below = (np.arange(len(ranked) + 1) / len(ranked)) ** rows
    return float(ranked @ np.diff(below))


def useful_share(batches: Sequence[tuple[Bucket | None, int]], steps: Mapping[Bucket | None, Sequence[int]]) -> float:
    """Return the share of row steps that move, over batches of a bucket and so many rows each."""
    moving = sum(rows * float(np.mean(steps[bucket])) for bucket, rows in batches)
    computed = sum(rows * expected_largest(steps[bucket], rows) for bucket, rows in batches)
    return moving / computed
