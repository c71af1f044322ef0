"""Behaviour of `unmask.testing.fixed_tokens`."""

from unmask.testing.fixed_tokens import make_fixed


def test_tokens_can_be_told_apart() -> None:
    """Each has a log-probability of its own, and comes first among its alternatives, the likeliest of them."""
    fixed, other = make_fixed(9, 3), make_fixed(10, 0)
    assert fixed is not None
    assert other is not None

    assert [said.token for said in fixed.top] == [9, 10, 11]
    assert [said.logprob for said in fixed.top] == sorted((said.logprob for said in fixed.top), reverse=True)
    assert (fixed.top[0], fixed.top[1]) == (fixed.chosen, other.chosen)
    assert other.top == ()


def test_nothing_is_made_for_nobody() -> None:
    """Where nobody asks there is nothing."""
    assert make_fixed(9, None) is None
