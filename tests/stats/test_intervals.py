"""Behaviour of `unmask.stats`."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.stats import (
    MIN_BOOTSTRAP,
    Interval,
    IntervalResult,
    NotEnoughData,
    bootstrap_mean,
    bounded_mean,
    clopper_pearson,
    difference_interval,
    paired_difference,
    percentile_interval,
    ratio_interval,
    weighted_rate,
    wilson,
)

SEED = 7
Method = Callable[[list[float], float], IntervalResult]

METHODS: dict[str, Method] = {
    "wilson": lambda values, confidence: wilson(sum(value > 0.5 for value in values), len(values), confidence),
    "clopper_pearson": lambda values, confidence: clopper_pearson(
        sum(value > 0.5 for value in values), len(values), confidence
    ),
    "bounded_mean": bounded_mean,
    "bootstrap_mean": lambda values, confidence: bootstrap_mean(values, SEED, confidence=confidence, resamples=200),
    "paired_difference": lambda values, confidence: paired_difference(
        values, values[::-1], SEED, confidence=confidence, resamples=200, bounds=(-1, 1)
    ),
    "ratio_interval": lambda values, confidence: ratio_interval(
        values, [1 + value for value in values], SEED, confidence=confidence, resamples=200
    ),
    "percentile_interval": lambda values, confidence: percentile_interval(values, 0.5, confidence),
}
unit_lists = st.lists(st.floats(0, 1), min_size=MIN_BOOTSTRAP, max_size=60)


def interval(result: IntervalResult) -> Interval:
    """Return an interval that the test expects to exist."""
    assert isinstance(result, Interval)
    return result


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS.keys())
@given(values=unit_lists, confidence=st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_interval_contains_its_estimate(method: Method, values: list[float], confidence: float) -> None:
    """Whatever the data, the ends are finite and lie around the estimate, or there is no interval."""
    match method(values, confidence):
        case Interval(estimate=estimate, low=low, high=high):
            assert -math.inf < low <= estimate <= high < math.inf
        case NotEnoughData(n=n, reason=reason):
            assert 0 <= n <= len(values)
            assert reason


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS.keys())
@given(values=unit_lists)
def test_interval_widens_with_confidence(method: Method, values: list[float]) -> None:
    """More confidence never gives a narrower interval, and may ask for more data."""
    results = [method(values, confidence) for confidence in (0.5, 0.8, 0.95, 0.99)]
    widths = [result.width for result in results if isinstance(result, Interval)]

    assert widths == sorted(widths)
    assert [isinstance(result, NotEnoughData) for result in results] == sorted(
        isinstance(result, NotEnoughData) for result in results
    )


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS.keys())
@pytest.mark.parametrize("size", [0, 1])
def test_next_to_no_data_is_never_certain(method: Method, size: int) -> None:
    """No value or a single one gives no interval, or a wide one."""
    match method([0.7] * size, 0.95):
        case Interval(low=low, high=high):
            assert high - low > 0.7
        case NotEnoughData(n=n):
            assert n == size


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS.keys())
@pytest.mark.parametrize("confidence", [0.0, 1.0, -1.0, math.nan])
def test_senseless_confidence_is_refused(method: Method, confidence: float) -> None:
    """A confidence outside (0, 1) raises an error that names it."""
    with pytest.raises(ValueError, match=f"confidence .* {confidence!r}"):
        method([0.1 * number for number in range(MIN_BOOTSTRAP)], confidence)


@given(st.integers(0, 2**32), st.lists(st.floats(-1e6, 1e6), min_size=MIN_BOOTSTRAP, max_size=30))
def test_seed_reproduces(seed: int, values: list[float]) -> None:
    """The same seed and data give the same interval to the last bit."""
    assert bootstrap_mean(values, seed, resamples=100) == bootstrap_mean(values, seed, resamples=100)


def test_seeds_differ() -> None:
    """The seed reaches the resampling."""
    values = [float(number) for number in range(20)]

    assert bootstrap_mean(values, 1) != bootstrap_mean(values, 2)


def test_wilson_matches_the_textbook() -> None:
    """8 of 10 gives the interval of Wilson's formula, and a clean sheet still leaves room for failure."""
    assert interval(wilson(8, 10)).low == pytest.approx(0.49016, abs=1e-5)
    assert interval(wilson(8, 10)).high == pytest.approx(0.94331, abs=1e-5)
    assert interval(wilson(10, 10)).low == pytest.approx(0.72247, abs=1e-5)
    assert interval(wilson(10, 10)).high == 1.0


@pytest.mark.parametrize(("successes", "n"), [(-1, 5), (6, 5), (0, -1)])
def test_wilson_refuses_impossible_counts(successes: int, n: int) -> None:
    """More successes than trials, or fewer than none, raises."""
    with pytest.raises(ValueError, match="successes"):
        wilson(successes, n)


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        (0, 1, 0.0, 0.975),
        (8, 10, 0.4439045376923585, 0.9747892736731666),
        (10, 10, 0.6915028921812392, 1.0),
        (0, 381, 0.0, 1 - 0.025 ** (1 / 381)),
        (3, 1000, 0.0006190999316495713, 0.008742023238478303),
        (500, 1000, 0.4685491729717889, 0.531450827028208),
        (37, 99999, 0.0002605297115084682, 0.0005099656604545796),
    ],
)
def test_clopper_pearson_matches_the_beta_quantiles(successes: int, n: int, low: float, high: float) -> None:
    """The ends are those of the beta distribution, for few values and for many."""
    result = interval(clopper_pearson(successes, n))

    assert result.low == pytest.approx(low, abs=1e-8)
    assert result.high == pytest.approx(high, abs=1e-8)


@given(st.integers(0, 60), st.integers(1, 60), st.sampled_from([0.8, 0.95, 0.99]))
def test_clopper_pearson_is_the_tail(successes: int, n: int, confidence: float) -> None:
    """At its upper end as few successes are seen exactly as often as it may be wrong."""
    successes = min(successes, n - 1)
    high = interval(clopper_pearson(successes, n, confidence)).high
    tail = sum(math.comb(n, k) * high**k * (1 - high) ** (n - k) for k in range(successes + 1))

    assert tail == pytest.approx((1 - confidence) / 2)


@pytest.mark.parametrize("rate", [0.003, 0.02, 0.1, 0.37, 0.5, 0.95])
@pytest.mark.parametrize("n", [5, 40, 300])
def test_clopper_pearson_covers_every_rate(rate: float, n: int) -> None:
    """Summed over everything that may be seen, it covers at least as often as it says, and each end does."""
    results = [interval(clopper_pearson(k, n)) for k in range(n + 1)]
    chances = [math.comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in range(n + 1)]

    assert sum(chance for chance, result in zip(chances, results, strict=True) if result.low <= rate) >= 0.975 - 1e-9
    assert sum(chance for chance, result in zip(chances, results, strict=True) if result.high >= rate) >= 0.975 - 1e-9


@pytest.mark.parametrize(("successes", "n"), [(-1, 5), (6, 5), (0, -1)])
def test_clopper_pearson_refuses_impossible_counts(successes: int, n: int) -> None:
    """More successes than trials, or fewer than none, raises."""
    with pytest.raises(ValueError, match="successes"):
        clopper_pearson(successes, n)


@given(st.integers(0, 200), st.integers(1, 200))
def test_wilson_mirrors(successes: int, n: int) -> None:
    """Counting failures in place of successes mirrors the interval."""
    successes = min(successes, n)
    one, other = interval(wilson(successes, n)), interval(wilson(n - successes, n))

    assert one.low == pytest.approx(1 - other.high)
    assert one.high == pytest.approx(1 - other.low)


@pytest.mark.parametrize("values", [[-0.1, 0.5], [0.5, 1.1]])
def test_bounded_mean_refuses_values_out_of_bounds(values: list[float]) -> None:
    """The bound holds only in [0, 1], so anything else raises."""
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        bounded_mean(values)


def test_bounded_mean_uses_small_variance() -> None:
    """Values that hardly vary get a narrower interval than passes and fails do."""
    steady = interval(bounded_mean([0.5, 0.51] * 2000))
    coins = interval(bounded_mean([0.0, 1.0] * 2000))

    assert steady.width < coins.width / 4


@pytest.mark.parametrize("bad", [[math.nan] * 20, [math.inf] * 20])
def test_values_must_be_finite(bad: list[float]) -> None:
    """A NaN or infinity raises in place of spreading."""
    with pytest.raises(ValueError, match="finite"):
        bootstrap_mean(bad, SEED)


def test_equal_values_are_not_certain() -> None:
    """Ten equal differences do not prove that there is never another one."""
    zeros = [0.0] * 10

    assert isinstance(paired_difference(zeros, zeros, SEED), NotEnoughData)
    assert isinstance(ratio_interval([2.0] * 10, [1.0] * 10, SEED), NotEnoughData)
    bounded = interval(paired_difference(zeros, zeros, SEED, bounds=(-1, 1)))
    assert bounded.high == pytest.approx(interval(wilson(0, 10)).high)
    assert bounded.low == -bounded.high


def test_equal_values_outside_bounds_are_refused() -> None:
    """Bounds that the data break are the caller's mistake."""
    with pytest.raises(ValueError, match="bounds"):
        bootstrap_mean([3.0] * 10, SEED, bounds=(0, 1))


def test_pairing_removes_what_items_share() -> None:
    """When items differ much and arms little, pairing gives the narrower interval."""
    rng = np.random.default_rng(SEED)
    items = rng.uniform(1, 100, 200)
    slower = items * rng.normal(1.1, 0.01, 200)

    paired = interval(ratio_interval(slower, items, SEED, paired=True))
    unpaired = interval(ratio_interval(slower, items, SEED))
    assert paired.width < unpaired.width / 10
    assert paired.low > 1


def test_paired_values_must_match_in_length() -> None:
    """Pairs with a missing half raise."""
    with pytest.raises(ValueError, match="one length"):
        paired_difference([1.0] * 10, [1.0] * 11, SEED)
    with pytest.raises(ValueError, match="one length"):
        ratio_interval([1.0] * 10, [1.0] * 11, SEED, paired=True)


def test_ratio_to_something_near_zero_has_no_interval() -> None:
    """A denominator whose sign is open gives no ratio."""
    assert isinstance(ratio_interval([1.0, 2.0] * 10, [-1.0, 1.0] * 10, SEED), NotEnoughData)


def test_percentile_says_how_many_values_it_needs() -> None:
    """A p95 takes 72 values, as 0.95 ** 72 < 0.025 <= 0.95 ** 71; with 71 the answer says so."""
    few = percentile_interval(list(range(71)), 0.95)

    assert few == NotEnoughData(n=71, reason="71 values, at least 72 needed")
    assert isinstance(percentile_interval(list(range(72)), 0.95), Interval)


@pytest.mark.parametrize("q", [0.0, 1.0, 95.0])
def test_percentile_refuses_q_outside_zero_to_one(q: float) -> None:
    """95 in place of 0.95 raises."""
    with pytest.raises(ValueError, match="q must lie"):
        percentile_interval([1.0] * 100, q)


def test_large_samples_are_resampled_in_bounded_memory() -> None:
    """A sample larger than a chunk still gives an interval near the truth."""
    values = np.random.default_rng(SEED).normal(5, 1, 1_200_000)

    assert interval(bootstrap_mean(values, SEED, resamples=10)).estimate == pytest.approx(5, abs=0.01)


Draw = Callable[[np.random.Generator], tuple[float, IntervalResult]]


def _rate(rng: np.random.Generator) -> tuple[float, IntervalResult]:
    return 0.9, wilson(int(rng.binomial(40, 0.9)), 40)


def _skewed_mean(rng: np.random.Generator) -> tuple[float, IntervalResult]:
    return 1.0, bootstrap_mean(rng.exponential(1, 40), SEED, resamples=500)


def _small_mean(rng: np.random.Generator) -> tuple[float, IntervalResult]:
    return 0.0, bootstrap_mean(rng.normal(0, 1, MIN_BOOTSTRAP), SEED, resamples=500)


def _bounded(rng: np.random.Generator) -> tuple[float, IntervalResult]:
    return 0.25, bounded_mean(rng.beta(1, 3, 50))


def _ratio(rng: np.random.Generator) -> tuple[float, IntervalResult]:
    return 2.0, ratio_interval(rng.gamma(4, 2, 40), rng.gamma(4, 1, 40), SEED, resamples=500)


def _p90(rng: np.random.Generator) -> tuple[float, IntervalResult]:
    return math.log(10), percentile_interval(rng.exponential(1, 60), 0.9)


@pytest.mark.parametrize(
    ("draw", "least"),
    [(_rate, 0.92), (_skewed_mean, 0.90), (_small_mean, 0.92), (_bounded, 0.95), (_ratio, 0.92), (_p90, 0.94)],
)
def test_intervals_cover_the_truth_as_often_as_they_say(draw: Draw, least: float) -> None:
    """Over 2000 simulated samples a 95 % interval holds the true value about that often."""
    rng = np.random.default_rng(SEED)
    results = [draw(rng) for _ in range(2000)]
    covered = sum(interval(result).low <= truth <= interval(result).high for truth, result in results)

    assert covered / len(results) >= least


def test_difference_of_two_groups() -> None:
    """Groups of different items: the interval holds the difference, and says nothing on too few or equal values."""
    rng = np.random.default_rng(0)
    left, right = rng.normal(1, 1, 400), rng.normal(0, 1, 300)
    result = difference_interval(left, right, SEED)

    assert isinstance(result, Interval)
    assert result.low < 1 < result.high
    assert result.width == pytest.approx(2 * 1.96 * (1 / 400 + 1 / 300) ** 0.5, rel=0.1)
    assert result == difference_interval(left, right, SEED)
    assert isinstance(difference_interval([1.0] * 9, [0.0, 1.0] * 9, SEED), NotEnoughData)
    assert isinstance(difference_interval([1.0] * 20, [0.0] * 20, SEED), NotEnoughData)


def test_weighted_rate_of_equal_probabilities_is_wilson() -> None:
    """Weights that are all the same change nothing."""
    assert weighted_rate([True, False, False], [0.05] * 3) == wilson(1, 3)
    assert isinstance(weighted_rate([], []), NotEnoughData)


def test_weighted_rate_counts_each_unit_for_those_it_stands_for() -> None:
    """One drawn with a tenth of the probability stands for ten; the interval is that of fewer units."""
    found = weighted_rate([True, False, False], [0.1, 1.0, 1.0])

    assert isinstance(found, Interval)
    assert found.estimate == pytest.approx(10 / 12)
    least = wilson(5, 6)
    assert isinstance(least, Interval)
    # Kish: 12 ** 2 / 102 is about 1.4 units.
    assert least.width < found.width < 1


def test_weighted_rate_of_nothing_seen_has_width() -> None:
    """No event among units of unequal weights is no proof that there is none."""
    found = weighted_rate([False] * 400, [0.2, 0.05] * 200)

    assert isinstance(found, Interval)
    assert (found.estimate, found.low) == (0, 0)
    assert 0.01 < found.high < 0.02


def test_weighted_rate_counts_a_cluster_as_one_unit() -> None:
    """Ten units of two clusters tell as much as two; units that are clusters of their own tell all they did."""
    passed, chances = [True, False] * 5, [0.5] * 10

    assert weighted_rate(passed, chances, clusters=["a"] * 5 + ["b"] * 5) == wilson(1, 2)
    assert weighted_rate(passed, chances, clusters=list("abcdefghij")) == wilson(5, 10)
    with pytest.raises(ValueError, match="9 clusters"):
        weighted_rate(passed, chances, clusters=["a"] * 9)


@pytest.mark.parametrize("probabilities", [[0.5], [0.5, 0.0], [0.5, 1.5], [0.5, float("nan")]])
def test_weighted_rate_refuses_what_is_no_probability(probabilities: list[float]) -> None:
    """Each unit has one, above 0."""
    with pytest.raises(ValueError, match="probabilit"):
        weighted_rate([True, False], probabilities)
