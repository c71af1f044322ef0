"""What alignment can reach at best."""

import pytest

from unmask.bench.theory import expected_largest, useful_share
from unmask.types import Bucket


@pytest.mark.parametrize(("bins", "share"), [(1, 0.59), (2, 0.74), (4, 0.85), (8, 0.92)])
def test_even_steps_give_the_shares_of_multi_bin_batching(bins: int, share: float) -> None:
    """Steps 1 to 16 in batches of eight: of one bin three fifths are of use, of eight more than nine tenths."""
    fine = 4_000
    values = [1 + 15 * (place + 0.5) / fine for place in range(fine)]
    width = fine // bins
    parts = [values[first : first + width] for first in range(0, fine, width)]
    mean = sum(values) / fine
    largest = sum(expected_largest([round(1e6 * value) for value in part], 8) for part in parts) / bins / 1e6

    assert mean / largest == pytest.approx(share, abs=0.01)


def test_the_largest_of_one_is_the_mean() -> None:
    """And that of very many the most there is."""
    assert expected_largest([1, 2, 6], 1) == pytest.approx(3.0)
    assert expected_largest([1, 2, 6], 500) == pytest.approx(6.0)
    assert expected_largest([1, 3], 2) == pytest.approx(2.5)


def test_a_batch_of_equal_steps_wastes_nothing() -> None:
    """Whatever else is in other buckets; batches count by their rows."""
    steps: dict[Bucket | None, list[int]] = {Bucket.S: [4, 4], Bucket.L: [1, 3]}

    assert useful_share([(Bucket.S, 8)], steps) == pytest.approx(1.0)
    assert useful_share([(Bucket.S, 2), (Bucket.L, 2)], steps) == pytest.approx((8 + 4) / (8 + 5))
