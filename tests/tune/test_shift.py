"""Behaviour of `unmask.tune.shift`."""

from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.control.values import BUCKETS, make_entry, make_model, stump
from tests.tune.synthetic import items_of, runs_of
from unmask.stats import NotEnoughData
from unmask.tasks.item import Split
from unmask.tune.item_runs import RunsError
from unmask.tune.shift import (
    SHIFT_STEP,
    Calibrated,
    calibrate,
    count_lost,
    items_needed,
    last_safe,
    runs_at,
    shifts,
    upper_bound,
)

# Digits / 4 is what items need, in log2 steps; one question cannot say as much.
BY_DIGITS = make_model(*(stump("digits", digits + 0.5, 0.0, 0.25) for digits in range(16)))
ENTRY = make_entry(alpha=0.02)


def found(*, alpha: float = 0.02) -> Calibrated:
    """Calibrate on items that the model knows well."""
    result = calibrate(runs_of(Split.CALIBRATE, 1000).items, BY_DIGITS, make_entry(alpha=alpha), BUCKETS)
    assert isinstance(result, Calibrated)
    return result


def test_shift_is_the_last_before_the_bound_breaks() -> None:
    """The loss taken is within alpha, the next one is not, and nothing lies between."""
    result = found(alpha=0.02)

    assert result.taken.upper <= 0.02
    assert result.refused is not None
    assert result.refused.upper > 0.02
    assert result.refused.shift == result.taken.shift - SHIFT_STEP
    assert (result.n, result.never_right, result.taken.right) == (1000, 0, 1000)


def test_shift_saves_steps() -> None:
    """Items that need little get little, without the loss that an unshifted score has."""
    items = runs_of(Split.CALIBRATE, 1000).items
    judged = [(item, BY_DIGITS.difficulty(item.features)) for item in items]
    steps = [run.steps for run in runs_at(judged, ENTRY, BUCKETS, found().taken.shift)]

    assert np.mean(steps) < 16
    assert count_lost(judged, ENTRY, BUCKETS, 0.0) > 100


def test_stricter_alpha_gives_a_larger_shift() -> None:
    """Less loss costs more steps."""
    assert found(alpha=0.005).taken.shift > found(alpha=0.1).taken.shift


def test_easy_items_go_to_the_floor() -> None:
    """Where nothing is ever lost the sequence ends with every item at its least bucket."""
    items = items_of(Split.CALIBRATE, 1000, spread=0.0)
    easy = [item for item in items if item.features["digits"] == 0]
    result = calibrate(easy, BY_DIGITS, make_entry(alpha=0.2), BUCKETS, least_items=10)

    assert isinstance(result, Calibrated)
    assert result.refused is None
    assert result.taken.lost == 0


def test_too_few_items_are_not_enough() -> None:
    """The number that is missing is said, and there is no shift."""
    result = calibrate(runs_of(Split.CALIBRATE, 999).items, BY_DIGITS, ENTRY, BUCKETS)

    assert result == NotEnoughData(n=999, reason="999 items, at least 1000 needed")
    assert calibrate((), BY_DIGITS, ENTRY, BUCKETS) == NotEnoughData(n=0, reason="0 items, at least 1000 needed")


def test_items_never_right_are_counted_and_prove_nothing() -> None:
    """A model that is hardly ever right has no loss to show, whatever the number of items."""
    items = items_of(Split.CALIBRATE, 1000, hopeless=0.95)
    result = calibrate(items, BY_DIGITS, make_entry(alpha=0.01), BUCKETS)
    some = calibrate(items, BY_DIGITS, make_entry(alpha=0.5), BUCKETS)

    assert isinstance(result, NotEnoughData)
    assert "right at the ceiling" in result.reason
    assert isinstance(some, Calibrated)
    assert some.never_right + some.taken.right == some.n == 1000
    assert some.never_right > 900


def test_budget_that_was_never_run_is_refused() -> None:
    """A policy may give 12 steps, and nobody knows what they do."""
    with pytest.raises(RunsError, match="given 12 steps"):
        calibrate(runs_of(Split.CALIBRATE, 20).items, BY_DIGITS, make_entry(ceiling=12), BUCKETS)
    with pytest.raises(RunsError, match="given 3 steps"):
        calibrate(runs_of(Split.CALIBRATE, 20).items, BY_DIGITS, make_entry(floor=3), BUCKETS)


@given(st.floats(-5, 5), st.floats(0, 5), st.integers(1, 16), st.integers(0, 4))
def test_shifts_fall_from_ceiling_to_floor(least: float, spread: float, floor: int, octaves: int) -> None:
    """At the first even the easiest item has the ceiling, at the last even the hardest has the floor."""
    entry = make_entry(floor=floor, ceiling=floor * 2**octaves)
    tried = list(shifts(entry, least, least + spread))

    assert 2 ** (least + tried[0]) >= entry.ceiling * (1 - 1e-9)
    assert 2 ** (least + spread + tried[-1]) <= entry.floor * (1 + 1e-9)
    assert all(one - other == SHIFT_STEP for one, other in pairwise(tried))


def test_items_needed_are_those_of_a_clean_sheet() -> None:
    """One item fewer, and no loss at all would not be enough."""
    for alpha in (0.005, 0.01, 0.03, 0.2):
        needed = items_needed(alpha)
        assert upper_bound(0, needed) <= alpha < upper_bound(0, needed - 1)
    assert upper_bound(0, 0) == 1.0


def test_sequence_stops_at_the_first_that_fails() -> None:
    """What comes after is not looked at, however good; the ceiling itself is never in question."""
    assert last_safe([0, 2, 90, 0], 1000, 0.02) == ([0, 2], [90])
    assert last_safe([0, 0], 1000, 0.02) == ([0, 0], [])
    assert last_safe([0, 1], 10, 0.02) == ([0], [1])


def test_alpha_is_exceeded_no_more_often_than_promised() -> None:
    """In simulation, the true loss of the shift taken is above alpha in at most 2.5 % of calibrations.

    The losses at successive shifts are those of the same items, as in calibration, and the shifts are many. Of 800
    calibrations 20 may fail; more than 35 would happen once in a thousand times.
    """
    rng = np.random.default_rng(11)
    alpha, n = 0.02, 1000
    true_loss = np.linspace(0.0, 0.1, 120)
    failed = 0
    for _ in range(800):
        fails_from = np.sort(np.searchsorted(true_loss, rng.random(n)))
        counts = np.searchsorted(fails_from, np.arange(len(true_loss)), side="right")
        taken, _ = last_safe(counts.tolist(), n, alpha)
        failed += true_loss[len(taken) - 1] > alpha

    assert 0 < failed <= 35


def test_loss_need_not_rise_as_shifts_fall() -> None:
    """The promise holds with losses that jump about, where a search for the best shift would find luck."""
    rng = Random(5)
    failed = 0
    for _ in range(400):
        counts = [0, *(sum(rng.random() < 0.03 for _ in range(300)) for _ in range(10))]
        taken, _ = last_safe(counts, 300, 0.03)
        failed += len(taken) > 1

    assert failed <= 22
