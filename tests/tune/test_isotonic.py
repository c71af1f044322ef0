"""The rising fit is the least-squares one."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from unmask.tune.isotonic import isotonic

SHARES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def pooled(values: list[float]) -> list[float]:
    """Fit by pooling adjacent violators, one curve, the way textbooks have it."""
    blocks: list[tuple[float, int]] = []
    for value in values:
        blocks.append((value, 1))
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            (first, one), (second, other) = blocks[-2:]
            blocks[-2:] = [(first + second, one + other)]
    return [total / count for total, count in blocks for _ in range(count)]


@given(SHARES)
def test_it_equals_pooling_adjacent_violators(values: list[float]) -> None:
    """The formula for many curves at once gives what the algorithm for one gives."""
    np.testing.assert_allclose(isotonic(np.array(values)), pooled(values), atol=1e-9)


@given(SHARES)
def test_it_never_falls_and_keeps_the_mean(values: list[float]) -> None:
    """Monotone to the last bit, between the extremes, with the mean of what was measured."""
    fitted = isotonic(np.array(values))

    assert (np.diff(fitted) >= 0).all()
    np.testing.assert_allclose(fitted.mean(), np.mean(values), atol=1e-9)


def test_rising_values_stay_and_rows_are_apart() -> None:
    """What rises already is its own fit, and each row is fitted alone."""
    fitted = isotonic(np.array([[0.1, 0.5, 0.9], [0.9, 0.5, 0.1]]))

    np.testing.assert_allclose(fitted, [[0.1, 0.5, 0.9], [0.5, 0.5, 0.5]])
