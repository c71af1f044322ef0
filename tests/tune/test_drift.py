"""Drift of features, by permutation and Holm."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmask.stats import NotEnoughData
from unmask.tune.drift import MIN_REQUESTS, find_drift, holm, permutation_test


def features(rng: np.random.Generator, count: int, shift: float = 0.0) -> dict[str, list[float]]:
    """Return a few features of requests, of which ``tokens`` can be shifted."""
    return {
        "tokens": (rng.poisson(40, count) + shift).tolist(),
        "turns": rng.integers(1, 4, count).astype(float).tolist(),
        "hangul": (rng.random(count) < 0.2).astype(float).tolist(),
    }


def test_a_moved_feature_is_named_first() -> None:
    """The feature that moved has drifted, the others have not, and it is reported first with both means."""
    rng = np.random.default_rng(5)
    found = find_drift(features(rng, 600), features(rng, 600, shift=4.0), 0)
    assert not isinstance(found, NotEnoughData)
    assert found[0].feature == "tokens"
    assert [entry.has_drifted() for entry in found] == [True, False, False]
    assert found[0].after - found[0].before == pytest.approx(4.0, abs=1.0)


def test_unchanged_traffic_hardly_ever_alarms() -> None:
    """Over many repetitions any feature of unchanged traffic drifts in 5 % of cases at most, chance allowed for."""
    alarms = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        found = find_drift(features(rng, 500), features(rng, 500), seed, permutations=200)
        assert not isinstance(found, NotEnoughData)
        alarms += any(entry.has_drifted() for entry in found)
    assert alarms <= 11


def test_too_few_requests_are_said_to_be_too_few() -> None:
    """One request less than needed on either side is not enough data, and neither are no features."""
    rng = np.random.default_rng(1)
    few, many = features(rng, MIN_REQUESTS - 1), features(rng, MIN_REQUESTS)
    assert isinstance(find_drift(few, many, 0), NotEnoughData)
    assert isinstance(find_drift(many, few, 0), NotEnoughData)
    assert isinstance(find_drift({}, {}, 0), NotEnoughData)


def test_features_must_be_the_same() -> None:
    """Features of one side only are a mistake of the caller."""
    rng = np.random.default_rng(1)
    other = features(rng, 500)
    del other["turns"]
    with pytest.raises(ValueError, match="features differ"):
        find_drift(features(rng, 500), other, 0)


def test_the_same_seed_gives_the_same_report() -> None:
    """Nothing but the seed is random."""
    rng = np.random.default_rng(2)
    before, after = features(rng, 500), features(rng, 500, shift=1.0)
    assert find_drift(before, after, 3, permutations=300) == find_drift(before, after, 3, permutations=300)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(0, 5), min_size=2, max_size=30),
    st.lists(st.integers(0, 5), min_size=2, max_size=30),
    st.integers(0, 99),
)
def test_p_values_are_probabilities(before: list[int], after: list[int], seed: int) -> None:
    """Whatever the ties: a p-value is above 0 and at most 1, and equal samples have distance 0 and p-value 1."""
    rng = np.random.default_rng(seed)
    distance, p_value = permutation_test(np.array(before, float), np.array(after, float), rng, 100)
    assert 0 <= distance <= 1
    assert 0 < p_value <= 1
    same, sure = permutation_test(np.array(before, float), np.array(before, float), rng, 50)
    assert same == pytest.approx(0.0, abs=1e-12)
    assert sure == 1.0


def test_the_distance_is_that_of_kolmogorov_and_smirnov() -> None:
    """Half of one sample lies below all of the other: the distribution functions are half apart."""
    distance, _ = permutation_test(np.array([0.0, 0.0, 5.0, 5.0]), np.array([5.0, 5.0]), np.random.default_rng(0), 10)
    assert distance == pytest.approx(0.5)


def test_holm_by_hand() -> None:
    """0.01, 0.04 and 0.03 become 0.03, 0.06 and 0.06; nothing exceeds 1."""
    assert holm([0.01, 0.04, 0.03]) == pytest.approx((0.03, 0.06, 0.06))
    assert holm([0.9, 0.8]) == (1.0, 1.0)
    assert holm([]) == ()
