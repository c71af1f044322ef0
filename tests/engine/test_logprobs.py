"""Log-probabilities of fixed tokens and of what else might have stood there."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from unmask.engine.logprobs import fixed_tokens
from unmask.types import FixedToken

INFINITY = float("inf")


def one(logits: list[float], token: int, count: int) -> FixedToken:
    """Return what is said of a token in one place."""
    (found,) = fixed_tokens(torch.tensor([logits]), np.array([token]), count)
    return found


def top(found: FixedToken) -> list[int]:
    """Return the ids of the alternatives in their order."""
    return [token.token for token in found.top]


def test_a_token_has_its_share_of_the_distribution() -> None:
    """The natural logarithm of its probability, whether it is the likeliest or not."""
    logits = torch.tensor([0.7, 0.2, 0.1]).log().tolist()

    assert one(logits, 1, 0).chosen.logprob == pytest.approx(math.log(0.2), abs=1e-6)
    assert (one(logits, 1, 0).chosen.token, one(logits, 1, 0).top) == (1, ())


def test_alternatives_are_the_likeliest_in_their_order() -> None:
    """They need not hold the token itself, and say of it what the token says of itself where they do."""
    found = one([1.0, 3.0, 0.0, 2.0], 0, 3)

    assert top(found) == [1, 3, 0]
    assert found.top[2] == found.chosen
    assert top(one([1.0, 3.0, 0.0, 2.0], 0, 2)) == [1, 3]


def test_of_two_alike_the_lower_id_comes_first() -> None:
    """Also where only one of them fits in."""
    assert top(one([1.0, 2.0, 1.0, 2.0, 1.0], 0, 5)) == [1, 3, 0, 2, 4]
    assert top(one([1.0, 2.0, 1.0, 2.0, 1.0], 0, 3)) == [1, 3, 0]


def test_what_cannot_be_drawn_is_no_alternative() -> None:
    """Forbidden tokens have no share, so fewer alternatives may come back than were asked for."""
    found = one([-INFINITY, 0.0, -INFINITY, 0.0], 3, 20)

    assert top(found) == [1, 3]
    assert found.chosen.logprob == pytest.approx(math.log(0.5))


def test_places_do_not_look_at_each_other() -> None:
    """Each row of logits is a place of its own; no place gives nothing."""
    logits = torch.randn(5, 9, generator=torch.Generator().manual_seed(3))
    tokens = np.array([0, 8, 3, 3, 1])
    together = fixed_tokens(logits, tokens, 4)

    assert together == [one(row, token, 4) for row, token in zip(logits.tolist(), tokens.tolist(), strict=True)]
    assert fixed_tokens(logits[:0], tokens[:0], 4) == []


@given(st.lists(st.sampled_from([-2.5, -1.0, 0.0, 0.5, 7.0]), min_size=2, max_size=12), st.integers(0, 20))
def test_alternatives_are_a_full_sort(logits: list[float], count: int) -> None:
    """Whatever the ties, they are the beginning of all tokens sorted by probability, then by id."""
    ranked = sorted(range(len(logits)), key=lambda token: (-logits[token], token))

    assert top(one(logits, 0, count)) == ranked[:count]


def test_certainty_keeps_its_digits() -> None:
    """Near zero a log-probability is small, and not rounded away."""
    assert one([30.0, 0.0], 0, 0).chosen.logprob == pytest.approx(-math.exp(-30.0), rel=1e-6)
