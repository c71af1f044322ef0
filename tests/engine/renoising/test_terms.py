"""The schedule, what a step keeps, and when a canvas is done."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.engine.renoising.terms import Renoising

TERMS = Renoising(vocabulary=9, entropy_bound=0.5, coolest=0.4, hottest=0.8, stability=2, confidence=0.1)
SURE = np.array([0.05, 0.1, 0.1], dtype=np.float32)
TOKENS = np.array([3, 1, 4])


def test_temperature_falls_with_the_steps_that_are_left() -> None:
    """It begins at the hottest and would be the coolest where no step is left; a smaller cap falls faster."""
    assert [round(TERMS.temperature(step, 4 - step), 6) for step in range(4)] == [0.8, 0.7, 0.6, 0.5]
    assert [round(TERMS.temperature(step, 2 - step), 6) for step in range(2)] == [0.8, 0.6]


def test_the_surest_positions_are_kept_up_to_the_bound() -> None:
    """Their entropies without the largest may come to the bound, and no further; ties go to the earlier position."""
    entropy = np.array([0.3, 0.2, 3.0, 0.3, 0.0], dtype=np.float32)

    assert replace(TERMS, entropy_bound=0.25).kept(entropy).tolist() == [True, True, False, False, True]
    assert replace(TERMS, entropy_bound=0.55).kept(entropy).tolist() == [True, True, False, True, True]
    assert replace(TERMS, entropy_bound=0.85).kept(entropy).tolist() == [True] * 5


@given(st.lists(st.floats(0, 10, width=32), min_size=1, max_size=30), st.floats(0.01, 20))
def test_what_is_kept_is_within_the_bound_and_as_much_as_can_be(entropies: list[float], bound: float) -> None:
    """The surest position is always kept, nothing less sure goes before it, and one more would break the bound."""
    entropy = np.array(entropies, dtype=np.float32)
    kept = replace(TERMS, entropy_bound=bound).kept(entropy)
    inside, outside = np.sort(entropy[kept].astype(np.float64)), entropy[~kept]

    assert kept[entropy.argmin()]
    assert inside[:-1].sum() <= bound
    if len(outside):
        assert outside.min() >= inside[-1]
        assert inside.sum() > bound


@pytest.mark.parametrize(
    ("earlier", "entropy", "is_done"),
    [
        ((TOKENS, TOKENS), SURE, True),
        ((TOKENS + 1, TOKENS, TOKENS), SURE, True),
        ((TOKENS, TOKENS), SURE + 0.02, False),
        ((TOKENS,), SURE, False),
        ((TOKENS, TOKENS + 1), SURE, False),
        ((), SURE, False),
    ],
)
def test_a_canvas_is_done_that_is_stable_and_confident(
    earlier: tuple[np.ndarray[tuple[int], np.dtype[np.int64]], ...],
    entropy: np.ndarray[tuple[int], np.dtype[np.float32]],
    is_done: bool,
) -> None:
    """The same tokens for so many steps before this one, and a mean entropy below the threshold."""
    assert TERMS.is_done(TOKENS, earlier, entropy) is is_done


def test_stability_may_not_be_asked_for() -> None:
    """Then being confident is enough, at the first step too."""
    assert replace(TERMS, stability=0).is_done(TOKENS, (), SURE)
