"""A policy deals out few budgets, and those that its task types want."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.tune.buckets import choose_buckets, round_up
from unmask.types import Bucket

GRID = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)


def chosen(*wanted: int) -> list[int]:
    """Return the steps of the buckets."""
    return [bucket.max_steps for bucket in choose_buckets(GRID, wanted)]


def test_five_wanted_budgets_are_the_buckets() -> None:
    """Smallest first, named in order."""
    buckets = choose_buckets(GRID, (32, 1, 8, 4, 16, 8))

    assert [(entry.bucket, entry.max_steps) for entry in buckets] == list(zip(Bucket, (1, 4, 8, 16, 32), strict=True))


def test_fewer_are_filled_up_in_the_widest_gaps() -> None:
    """An estimator can use tiers that no landmark asked for."""
    assert chosen(1, 32) == [1, 2, 6, 12, 32]
    assert chosen(32) == [32]
    assert chosen(1, 2) == [1, 2]


def test_of_more_those_are_kept_that_are_missed_most() -> None:
    """A budget that many task types want is not rounded up; the largest always stays."""
    steps = chosen(1, 1, 1, 8, 8, 8, 12, 12, 2, 2, 3, 32)

    assert len(steps) == 5
    assert {1, 8, 12, 32} <= set(steps)


@given(st.lists(st.sampled_from(GRID), min_size=1, max_size=18))
def test_every_wanted_budget_rounds_up_to_a_bucket(wanted: list[int]) -> None:
    """At most five, rising, none lost, and no wanted budget is rounded down."""
    steps = chosen(*wanted)

    assert steps == sorted(set(steps))
    assert len(steps) <= 5
    assert all(round_up(step, steps) >= step for step in wanted)
    assert steps[-1] == max(wanted)


def test_nothing_rounds_up_beyond_the_largest() -> None:
    """That would be a fault of ours."""
    with pytest.raises(ValueError, match="empty"):
        round_up(33, [1, 32])
