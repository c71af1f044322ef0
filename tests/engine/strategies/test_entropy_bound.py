"""Entropy bound: the longest run of certain positions whose joint error stays bounded."""

import pytest

from tests.engine.strategies.handmade import revealed, sure, view
from unmask.engine.strategies.entropy_bound import EntropyBound


def step(entropy: list[float], threshold: float, until: int | None = None) -> list[int]:
    """Return what one step reveals."""
    signals = sure([0.5] * len(entropy), entropy=entropy)
    return revealed(EntropyBound(threshold=threshold).step(view([0] * len(entropy), until=until), signals, None))


@pytest.mark.parametrize(
    ("threshold", "expected"),
    [(0.0, [2]), (0.05, [1, 2]), (0.14, [1, 2]), (0.15, [1, 2, 3]), (0.34, [1, 2, 3]), (0.35, [0, 1, 2, 3])],
)
def test_the_sum_less_its_largest_is_bounded(threshold: float, expected: list[int]) -> None:
    """From the least entropy up, positions join while the entropies before them sum to at most the threshold."""
    assert step([0.9, 0.1, 0.05, 0.2], threshold) == expected


def test_one_position_is_forced() -> None:
    """However uncertain, the least uncertain is revealed."""
    assert step([3.0, 2.5, 4.0], 0.0) == [1]


def test_ties_go_to_the_earlier_position() -> None:
    """Of equal entropies, also those equal but for the last bits, the left one comes first."""
    assert step([2.0, 1.00001, 1.0, 2.0], 0.0) == [1]


def test_positions_without_entropy_cost_nothing() -> None:
    """Certain positions are all revealed, and one uncertain one with them."""
    assert step([0.0, 0.5, 0.0, 0.7, 0.0], 0.1) == [0, 1, 2, 4]


def test_behind_the_end_nothing_joins() -> None:
    """A certain position behind the draft's first end token is no candidate."""
    assert step([0.4, 0.5, 0.0, 0.0], 0.1, until=2) == [0]
