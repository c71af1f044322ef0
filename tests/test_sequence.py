"""Behaviour of `unmask.sequence`."""

import pytest

from unmask.testing.sequences import make_sequence
from unmask.testing.submissions import make_submission


@pytest.mark.parametrize(("max_tokens", "canvases"), [(1, 1), (8, 1), (9, 2), (16, 2), (17, 3)])
def test_canvases_round_up(max_tokens: int, canvases: int) -> None:
    """As many canvases as hold ``max_tokens``, the last one perhaps in part."""
    assert make_submission(max_tokens=max_tokens).max_canvases == canvases


def test_a_sequence_knows_its_tokens_and_what_is_left() -> None:
    """Prompt and output in one run; the total less what was used."""
    sequence = make_sequence(make_submission((5, 6), max_total_steps=9), output=[7], steps=4)

    assert (sequence.tokens, sequence.steps_left) == ((5, 6, 7), 5)
