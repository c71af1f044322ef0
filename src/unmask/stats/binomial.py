"""Exact probabilities of counts."""

import math

import numpy as np


def at_most(k: int, n: int, p: float) -> float:
    """Return the probability of at most ``k`` successes among ``n`` that each have probability ``p``."""
    if not 0 <= p <= 1 or n < 0:
        msg = f"p must lie in [0, 1] and n be at least 0, got p={p!r}, n={n!r}"
        raise ValueError(msg)
    if k < 0:
        return 0.0
    if k >= n or p == 0:
        return 1.0
    if p == 1:
        return 0.0
    i = np.arange(k)
    log_choose = np.concatenate(([0.0], np.cumsum(np.log((n - i) / (i + 1)))))
    j = np.arange(k + 1)
    return min(1.0, float(np.exp(log_choose + j * math.log(p) + (n - j) * math.log1p(-p)).sum()))


def mcnemar(only_a: int, only_b: int) -> float:
    """Return the exact two-sided p-value that two arms differ, from the items that one alone passes (McNemar, 1947)."""
    return min(1.0, 2 * at_most(min(only_a, only_b), only_a + only_b, 0.5))
