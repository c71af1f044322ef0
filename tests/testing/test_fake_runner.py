"""Behaviour of `unmask.testing.fake_runner`."""

import pytest
import torch

from unmask.testing.fake_runner import FakeRunner, logits_for


def test_logits_have_the_odds_asked_for() -> None:
    """A token's log-odds against all others are those written down."""
    logits = logits_for([2, 0], [1.5, -1.0], 4)
    others = [logits[0, [0, 1, 3]].logsumexp(0), logits[1, 1:].logsumexp(0)]
    odds = [float(logits[0, 2] - others[0]), float(logits[1, 0] - others[1])]

    assert odds == pytest.approx([1.5, -1.0], abs=1e-6)


def test_each_forward_has_its_own_logits() -> None:
    """They come in the order given, and changing them changes nothing for later."""
    first, second = torch.zeros(1, 2), torch.ones(1, 2)
    runner = FakeRunner(first, second)
    runner.forward([]).add_(5)

    assert first.tolist() == [[0.0, 0.0]]
    assert runner.forward([]).tolist() == [[1.0, 1.0]]
