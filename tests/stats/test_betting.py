"""Behaviour of `unmask.stats.betting`."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.stats import Interval, IntervalResult, NotEnoughData, betting_mean, bounded_mean, clopper_pearson

SEED = 11
units = st.lists(st.floats(0, 1), min_size=2, max_size=40)


def interval(result: IntervalResult) -> Interval:
    """Return an interval that the test expects to exist."""
    assert isinstance(result, Interval)
    return result


@given(values=units, confidence=st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_ends_lie_around_the_mean_and_within_the_unit(values: list[float], confidence: float) -> None:
    """Whatever the values, both ends are possible means and not the same."""
    found = interval(betting_mean(values, confidence))

    assert 0 <= found.low <= found.estimate <= found.high <= 1
    assert found.width > 0


@given(values=units, place=st.integers(0, 39), new=st.floats(0, 1))
def test_ends_rise_with_each_value(values: list[float], place: int, new: float) -> None:
    """A larger value never lowers an end, which intervals by estimated variance do."""
    at = place % len(values)
    raised = [*values[:at], max(values[at], new), *values[at + 1 :]]
    before, after = interval(betting_mean(values)), interval(betting_mean(raised))

    assert after.low >= before.low - 1e-12
    assert after.high >= before.high - 1e-12


@given(values=units, seed=st.integers(0, 1000))
def test_order_of_values_makes_no_difference(values: list[float], seed: int) -> None:
    """Items have no order, so neither has their interval."""
    shuffled = np.random.default_rng(seed).permutation(values)

    assert interval(betting_mean(shuffled)).low == pytest.approx(interval(betting_mean(values)).low)


@pytest.mark.parametrize("n", [64, 200, 1000])
@pytest.mark.parametrize("share", [0.9, 0.98, 1.0])
def test_it_is_narrow_where_gates_are(n: int, share: float) -> None:
    """Near an end narrower than Hoeffding and empirical Bernstein; on zeros and ones never within the exact one."""
    ones = round(n * share)
    values = [1.0] * ones + [0.0] * (n - ones)
    ours = interval(betting_mean(values))
    exact = interval(clopper_pearson(ones, n))

    assert ours.width < interval(bounded_mean(values)).width
    assert ours.low <= exact.low + 1e-9
    assert ours.high >= exact.high - 1e-9


@pytest.mark.parametrize(("a", "b"), [(19.0, 1.0), (1.0, 1.0), (0.5, 0.1)])
@pytest.mark.parametrize("n", [10, 60])
def test_it_covers_the_mean_of_any_distribution(a: float, b: float, n: int) -> None:
    """Each end misses in 2.5 % of samples at most; seen in 200, with what chance allows for."""
    rng = np.random.default_rng(SEED)
    found = [interval(betting_mean(rng.beta(a, b, n))) for _ in range(200)]
    mean = a / (a + b)

    assert sum(each.low > mean for each in found) <= 200 * 0.025 + 3 * np.sqrt(200 * 0.025)
    assert sum(each.high < mean for each in found) <= 200 * 0.025 + 3 * np.sqrt(200 * 0.025)


def test_all_ones_bound_the_mean_away_from_one() -> None:
    """A hundred perfect values do not show a mean of 1."""
    found = interval(betting_mean([1.0] * 100))

    assert (found.estimate, found.high) == (1.0, 1.0)
    assert 0.95 < found.low < 0.97


@pytest.mark.parametrize("values", [[], [0.5]])
def test_one_value_is_too_little(values: list[float]) -> None:
    """There is nothing to bet on."""
    assert isinstance(betting_mean(values), NotEnoughData)


def test_values_beyond_the_unit_are_refused() -> None:
    """The martingale needs the bounds."""
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        betting_mean([0.5, 1.5])
