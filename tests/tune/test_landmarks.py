"""Landmarks are read as defined, and resampled with the items."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmask.stats import NotEnoughData
from unmask.testing.curves import make_curve, make_shares
from unmask.tune.isotonic import isotonic
from unmask.tune.landmarks import Landmarks, MeasuredLandmarks, find_landmarks, measure_landmarks

GRID = (1, 2, 4, 8, 16, 32)


def read(*shares: float, grid: tuple[int, ...] = GRID) -> Landmarks:
    """Return the landmarks of a fitted curve."""
    return find_landmarks(grid, isotonic(np.array(shares)))


def test_a_steep_curve() -> None:
    """Collapse is the last budget ten points down, the floor next to it; the knee bends before saturation."""
    found = read(0.1, 0.5, 0.80, 0.965, 0.97, 0.98)

    assert found == Landmarks(collapse=4, floor=8, knee=8, saturation=16, flat=False)


def test_a_flat_curve_has_floor_one() -> None:
    """Under three points of gain there is nothing to lose: no collapse, floor 1."""
    found = read(0.95, 0.955, 0.96, 0.965, 0.97, 0.975)

    assert found == Landmarks(collapse=None, floor=1, knee=1, saturation=8, flat=True)
    assert not read(0.90, 0.93, 0.93, 0.93, 0.93, 0.93).flat


def test_a_curve_that_collapses_only_at_one_step() -> None:
    """The next grid point is the floor, whichever that is."""
    assert read(0.80, 0.90, 0.90, grid=(1, 3, 8)).floor == 3
    assert read(0.801, 0.90, 0.90, grid=(1, 3, 8)).collapse is None


def test_the_knee_waits_for_the_last_doubling_that_adds() -> None:
    """A pause in the middle is no knee when a later doubling adds two points again."""
    assert read(0.90, 0.91, 0.91, 0.91, 0.95, 0.95).knee == 16
    assert read(0.90, 0.91, 0.91, 0.91, 0.92, 0.92).knee == 1


def test_a_doubling_between_grid_points_is_read_off_the_line_between_them() -> None:
    """Twice 1 is 2, at 63 % of the way from 1 to 3 in log2; twice a budget beyond the grid is its end."""
    assert read(0.90, 0.93, 0.93, grid=(1, 3, 12)).knee == 1
    assert read(0.90, 0.932, 0.932, grid=(1, 3, 12)).knee == 3
    assert read(0.90, 0.90, 0.919, grid=(1, 8, 12)).knee == 1
    assert read(0.90, 0.90, 0.921, grid=(1, 8, 12)).knee == 12


def test_a_dent_is_fitted_away() -> None:
    """A budget that happens to measure less than the one before it neither saturates nor collapses."""
    assert read(0.5, 0.97, 0.93, 0.95, 0.95, 0.95) == Landmarks(collapse=1, floor=2, knee=2, saturation=2, flat=False)


def test_all_wrong_is_flat() -> None:
    """Nothing right at any budget: no budget is better than another."""
    assert read(*[0.0] * 6) == Landmarks(collapse=None, floor=1, knee=1, saturation=1, flat=True)


@settings(max_examples=200)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_they_are_ordered(values: list[float]) -> None:
    """Whatever is measured: collapse < floor <= knee <= saturation, all on the grid."""
    grid = GRID[: len(values)]
    found = read(*values, grid=grid)

    assert found.floor <= found.knee <= found.saturation
    assert {found.floor, found.knee, found.saturation} <= set(grid)
    assert found.collapse is None or found.collapse < found.floor


def test_resampling_is_seeded_and_sums_to_one() -> None:
    """Equal seeds give equal distributions; every resample has a floor, a knee and a saturation."""
    curve = make_shares((0.3, 0.6, 0.88, 0.9, 0.905, 0.91), items=300, grid=GRID)
    first, second, other = (measure_landmarks(curve, seed) for seed in (1, 1, 2))

    assert isinstance(first, MeasuredLandmarks)
    assert first == second != other
    for spread in (first.floor, first.knee, first.saturation):
        assert sum(spread.shares) == pytest.approx(1)
        assert spread.low is not None
        assert spread.high is not None
        assert spread.low <= spread.high
    assert len([share for share in first.saturation.shares if share > 0]) > 1
    assert first.at == find_landmarks(GRID, isotonic(curve.quality))


def test_items_are_resampled_as_a_whole() -> None:
    """Items that gain together keep doing so: a curve whose every item is right from 4 on has one saturation."""
    found = measure_landmarks(make_shares((0.0, 0.5, 1.0, 1.0, 1.0, 1.0), items=200, grid=GRID), 0)

    assert isinstance(found, MeasuredLandmarks)
    assert (found.saturation.low, found.saturation.high, found.collapse.low) == (4, 4, 2)
    assert found.flat_share == 0


def test_collapse_may_be_missing_from_resamples() -> None:
    """A curve ten points down by a hair has a collapse in about half of its resamples."""
    found = measure_landmarks(make_shares((0.80, 0.90, 0.90), items=1000, grid=(1, 2, 4)), 0)

    assert isinstance(found, MeasuredLandmarks)
    assert 0.3 < sum(found.collapse.shares) < 0.7


@pytest.mark.parametrize("count", [1, 99])
def test_few_items_are_not_enough(count: int) -> None:
    """One item in fewer than a hundred is more than the point that saturation is read to."""
    found = measure_landmarks(make_curve("0" * count, "1" * count, "1" * count), 0)

    assert found == NotEnoughData(n=count, reason=f"{count} items, at least 100 needed to tell one point of quality")
