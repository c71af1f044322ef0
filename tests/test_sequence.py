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


@pytest.mark.parametrize(
    ("prompt", "max_tokens", "canvases", "length"),
    [(3, 1, 1, 4), (3, 2, 2, 8), (4, 4, 1, 8), (4, 5, 2, 12), (5, 7, 2, 12), (5, 8, 3, 16)],
)
def test_canvases_on_a_grid_end_at_multiples(prompt: int, max_tokens: int, canvases: int, length: int) -> None:
    """The first canvas takes what is left of its block, so there may be one more; the last ends with a block."""
    submission = make_submission((7,) * prompt, max_tokens=max_tokens, canvas_length=4, on_grid=True)

    assert (submission.max_canvases, submission.max_length) == (canvases, length)
