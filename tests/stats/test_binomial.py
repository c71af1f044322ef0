"""Behaviour of `unmask.stats.binomial`."""

from math import comb

import pytest

from unmask.stats import at_most, mcnemar


@pytest.mark.parametrize(("k", "n", "p"), [(0, 5, 0.3), (2, 7, 0.9), (10, 40, 0.25), (-1, 3, 0.5), (3, 3, 0.2)])
def test_at_most_is_the_sum_of_the_law(k: int, n: int, p: float) -> None:
    """Term by term."""
    assert at_most(k, n, p) == pytest.approx(sum(comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k + 1)))


def test_certain_events() -> None:
    """At probabilities 0 and 1 there is no logarithm to take."""
    assert at_most(2, 5, 0.0) == 1.0
    assert at_most(2, 5, 1.0) == 0.0


@pytest.mark.parametrize(("pair", "is_significant"), [((6, 0), True), ((5, 0), False), ((8, 1), True), ((7, 1), False)])
def test_mcnemar_needs_six_to_nothing(pair: tuple[int, int], is_significant: bool) -> None:
    """Or eight to one, for 5 %; in either direction."""
    assert (mcnemar(*pair) < 0.05) is is_significant
    assert mcnemar(*pair) == mcnemar(pair[1], pair[0])


def test_mcnemar_of_no_difference_is_one() -> None:
    """Nothing discordant tells nothing."""
    assert mcnemar(0, 0) == 1.0
