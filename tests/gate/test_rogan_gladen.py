"""Behaviour of `unmask.gate.rogan_gladen`."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.gate.rogan_gladen import CorrectedRate, NoBetterThanChance, corrected_rate
from unmask.stats import NotEnoughData, Share


def share(rate: float, n: float = 400) -> Share:
    """Return a rate among so many units."""
    return Share(rate=rate, n=n)


def test_perfect_judge_is_believed() -> None:
    """The corrected rate is the raw one; the interval allows for mistakes that were not seen."""
    found = corrected_rate(share(0.9), share(1.0), share(1.0))

    assert isinstance(found, CorrectedRate)
    assert found.estimate == pytest.approx(0.9)
    assert 0.85 < found.low < 0.9 < found.high < 0.95


def test_strict_judge_is_corrected_upwards() -> None:
    """One that passes 0.97 of right answers and no wrong one turns 0.98 into 0.954 or so."""
    found = corrected_rate(share(0.98 * 0.97 + 0.02 * 0.0), share(0.97), share(1.0))

    assert isinstance(found, CorrectedRate)
    assert found.estimate == pytest.approx(0.98)
    assert not found.is_truncated


def test_interval_is_that_of_lang_and_reiczigel() -> None:
    """Worked by hand with z = 2 (confidence 0.9545): p' = 52/104, Se' = 19/22, Sp' = 17/22, P' = (p' + Sp' - 1) / J."""
    found = corrected_rate(share(0.5, 100), share(0.9, 20), share(0.8, 20), math.erf(math.sqrt(2)))
    slope = 19 / 22 + 17 / 22 - 1
    centre = (0.5 + 17 / 22 - 1) / slope
    of_se, of_sp = (19 / 22) * (3 / 22) / 22, (17 / 22) * (5 / 22) / 22
    shift = 2 * 4 * (centre * of_se - (1 - centre) * of_sp)
    spread = math.sqrt(0.25 / 104 + centre**2 * of_se + (1 - centre) ** 2 * of_sp) / slope

    assert isinstance(found, CorrectedRate)
    assert found.estimate == pytest.approx(0.3 / 0.7)
    assert found.low == pytest.approx(centre + shift - 2 * spread)
    assert found.high == pytest.approx(centre + shift + 2 * spread)


def test_estimate_outside_of_rates_is_cut_and_said() -> None:
    """Noise may put the formula beyond 1."""
    found = corrected_rate(share(0.99), share(0.95), share(0.9))

    assert isinstance(found, CorrectedRate)
    assert (found.estimate, found.high, found.is_truncated) == (1.0, 1.0, True)
    assert found.untruncated == pytest.approx(0.89 / 0.85)


@pytest.mark.parametrize(("sensitivity", "specificity"), [(1.0, 0.0), (0.5, 0.5), (0.3, 0.6)])
def test_judge_no_better_than_chance_is_a_result(sensitivity: float, specificity: float) -> None:
    """There is nothing to divide by."""
    assert corrected_rate(share(0.9), share(sensitivity), share(specificity)) == NoBetterThanChance(
        sensitivity=sensitivity, specificity=specificity
    )


def test_judge_that_may_be_no_better_than_chance_has_no_interval() -> None:
    """The delta method says nothing where the divisor may be 0; with more labels the same judge has one."""
    assert isinstance(corrected_rate(share(0.6), share(0.6, 30), share(0.55, 30)), NotEnoughData)
    assert isinstance(corrected_rate(share(0.6), share(0.6, 3000), share(0.55, 3000)), CorrectedRate)


@given(
    st.floats(0, 1),
    st.floats(0, 1),
    st.floats(0, 1),
    st.floats(1, 1e5),
    st.floats(1, 1e5),
    st.sampled_from([0.9, 0.99]),
)
def test_interval_holds_its_estimate_within_rates(
    raw: float, sensitivity: float, specificity: float, n: float, labels: float, confidence: float
) -> None:
    """Whatever comes in."""
    found = corrected_rate(share(raw, n), share(sensitivity, labels), share(specificity, labels), confidence)

    assert not isinstance(found, CorrectedRate) or 0 <= found.low <= found.estimate <= found.high <= 1


@pytest.mark.parametrize(
    ("truth", "sensitivity", "specificity", "n", "right", "wrong"),
    [(0.98, 0.97, 0.85, 400, 100, 30), (0.95, 1.0, 0.95, 600, 150, 40), (0.8, 0.9, 0.8, 400, 60, 60)],
)
def test_interval_covers_the_truth_as_often_as_it_says(
    truth: float, sensitivity: float, specificity: float, n: int, right: int, wrong: int
) -> None:
    """In 1500 simulated runs at the sizes that a gate has; 95 % less what chance allows for."""
    rng = np.random.default_rng(1)
    marked = rng.binomial(n, truth * sensitivity + (1 - truth) * (1 - specificity), 1500) / n
    passed = rng.binomial(right, sensitivity, 1500) / right
    failed = rng.binomial(wrong, specificity, 1500) / wrong
    found = [
        corrected_rate(share(raw, n), share(se, right), share(sp, wrong))
        for raw, se, sp in zip(marked.tolist(), passed.tolist(), failed.tolist(), strict=True)
    ]

    assert sum(isinstance(one, CorrectedRate) and one.low <= truth <= one.high for one in found) / 1500 > 0.94
