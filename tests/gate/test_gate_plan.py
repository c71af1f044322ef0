"""Behaviour of `unmask.gate.plan`, `needs` and `planning`."""

import numpy as np
import pytest

from unmask.gate.decide_errors import GateFileError
from unmask.gate.gate_file import Bound, Statistic
from unmask.gate.needs import can_pass, chance, needed
from unmask.gate.plan import (
    MOST_UNITS,
    chance_of_percentile,
    chance_of_rate,
    least_passing,
    most_misses,
    needed_for_mean,
    needed_for_percentile,
    needed_for_rate,
)
from unmask.gate.planning import Available, plan_gate
from unmask.gate.score import Metric
from unmask.gate.verdict import confidence_at
from unmask.stats import Interval, wilson
from unmask.testing.gates import make_gate, make_row


@pytest.mark.parametrize(
    ("threshold", "sizes"),
    [
        (0.9, [35, 53, 69, 84, 99, 113]),
        (0.95, [73, 110, 142, 173, 202, 230]),
        (0.98, [189, 280, 361, 437, 510, 581]),
        (0.99, [381, 563, 726, 878, 1025, 1166]),
    ],
)
def test_smallest_numbers_that_pass_with_so_many_misses(threshold: float, sizes: list[int]) -> None:
    """For a lower end of .95 it takes 73 clusters without a miss; the interval itself agrees, one fewer does not."""
    assert [least_passing(misses, threshold, 0.95) for misses in range(6)] == sizes
    for misses, n in enumerate(sizes):
        enough, too_few = wilson(n - misses, n), wilson(n - 1 - misses, n - 1)
        assert isinstance(enough, Interval)
        assert isinstance(too_few, Interval)
        assert too_few.low < threshold <= enough.low
        assert (most_misses(n, threshold, 0.95), most_misses(n - 1, threshold, 0.95)) == (misses, misses - 1)


@pytest.mark.parametrize(
    ("threshold", "rate", "for_80", "for_90"),
    [(0.95, 0.98, 337, 440), (0.95, 0.984, 257, 311), (0.95, 0.99, 173, 202), (0.95, 0.995, 110, 142),
     (0.98, 0.995, 510, 650)],
)  # fmt: skip
def test_numbers_for_a_power(threshold: float, rate: float, for_80: int, for_90: int) -> None:
    """From so many on, the chance to pass is never less, though it goes up and down with each further cluster."""
    assert needed_for_rate(rate, threshold, 0.95) == for_80
    assert needed_for_rate(rate, threshold, 0.95, 0.9) == for_90
    assert all(chance_of_rate(n, rate, threshold, 0.95) >= 0.8 for n in range(for_80, for_80 + 300))
    assert chance_of_rate(for_80 - 1, rate, threshold, 0.95) < 0.8


@pytest.mark.parametrize(("n", "percent"), [(64, 0), (150, 57), (192, 63), (300, 89), (500, 99)])
def test_chance_to_pass_95_at_a_true_984(n: int, percent: int) -> None:
    """64 clusters can never pass, and three seeds do not make 192 of them."""
    assert round(100 * chance_of_rate(n, 0.984, 0.95, 0.95)) == percent


def test_no_number_shows_what_is_not_so() -> None:
    """A rate at the threshold passes with no number of clusters, and one close above it with too many to ask for."""
    assert needed_for_rate(0.95, 0.95, 0.95) is None
    assert needed_for_rate(0.95001, 0.95, 0.95) is None
    found = needed_for_rate(0.951, 0.95, 0.95)
    assert found is not None
    assert 300_000 < found < MOST_UNITS


def test_p95_takes_72_scenarios() -> None:
    """With fewer no order statistic is an upper end of it, however fast all of them are."""
    assert chance_of_percentile(71, 1.0, 0.95, 0.95) == 0.0
    assert chance_of_percentile(72, 1.0, 0.95, 0.95) == 1.0
    found = needed_for_percentile(0.98, 0.95, 0.95)
    assert found is not None
    assert 200 < found < 500
    assert needed_for_percentile(0.95, 0.95, 0.95) is None


def test_a_mean_needs_less_the_less_it_spreads() -> None:
    """And without any more than nothing, since betting knows no spread of zero."""
    narrow = needed_for_mean(np.array([0.97, 0.99] * 30), 0.95, 0.95)
    wide = needed_for_mean(np.array([1.0] * 49 + [0.0]), 0.95, 0.95)

    assert narrow is not None
    assert wide is not None
    assert 50 < narrow < wide
    assert needed_for_mean(np.array([0.9] * 30), 0.95, 0.95) is None
    assert needed_for_mean(np.array([], dtype=np.float64), 0.95, 0.95) is None


def test_less_is_better_is_the_mirror_image() -> None:
    """An upper end of .05 for hallucinations asks what a lower end of .95 does."""
    row = make_row(metric=Metric.HALLUCINATION, bound=Bound.AT_MOST, threshold=0.05)

    assert needed(row, 0.984, 0.95) == 257
    assert chance(row, 0.984, 192, 0.95) == pytest.approx(chance_of_rate(192, 0.984, 0.95, 0.95))


def test_a_row_can_pass_from_73_clusters_on_and_later_looks_ask_more() -> None:
    """Even of perfect answers."""
    row = make_row()

    assert [can_pass(row, n, confidence_at(0)) for n in (0, 1, 64, 72, 73)] == [False, False, False, False, True]
    assert not can_pass(row, 73, confidence_at(1))


def test_plan_tells_units_that_fit_each_row() -> None:
    """Clusters for rates, scenarios for percentiles; without any nothing is said of chances."""
    gate = make_gate(
        make_row(),
        make_row(name="p95", metric=Metric.SECONDS, statistic=Statistic.P95, bound=Bound.AT_MOST, threshold=2),
    )
    there = dict.fromkeys(("precision", "p95"), Available(clusters=64, scenarios=192))
    rate, late = plan_gate(gate, {"precision": 0.984}, confidence=0.95, available=there)
    bare, _ = plan_gate(gate, {}, confidence=0.95)

    assert (rate.needed, rate.units, rate.chance, rate.can_pass) == (257, 64, 0.0, False)
    assert (late.rate, late.units, late.row.unit, late.can_pass) == (1.0, 192, "scenario", True)
    assert (bare.needed, bare.units, bare.chance, bare.can_pass) == (73, None, None, None)


@pytest.mark.parametrize(("rates", "says"), [({"nope": 0.9}, "is of no row"), ({"precision": 1.2}, "from 0 to 1")])
def test_rates_of_nothing_are_refused(rates: dict[str, float], says: str) -> None:
    """With what is allowed."""
    with pytest.raises(GateFileError, match=says):
        plan_gate(make_gate(), rates, confidence=0.95)
