"""Thresholds from checked answers."""

from random import Random

import pytest

from unmask.search.calibrate import Mark, calibrated


def marks(count: int, seed: int = 0) -> list[Mark]:
    """Return answers whose chance to be right falls from 1 to 0 as their confidence falls from 0 to -1."""
    rng = Random(seed)
    confidences = [-rng.random() for _ in range(count)]
    return [Mark(confidence=value, right=rng.random() < 1 + value) for value in confidences]


@pytest.mark.parametrize("share", [0.6, 0.75, 0.9])
def test_what_clears_the_threshold_is_right_often_enough(share: float) -> None:
    """On other answers; and the threshold is not needlessly high."""
    threshold = calibrated(marks(4_000), share=share)
    assert threshold is not None
    accepted = [mark.right for mark in marks(20_000, seed=1) if mark.confidence >= threshold]
    assert sum(accepted) / len(accepted) >= share
    assert threshold < 2 * (share - 1) + 0.15


def test_without_enough_right_answers_there_is_none() -> None:
    """Nor with too few of them, however right."""
    assert calibrated([Mark(confidence=-0.1 * place, right=False) for place in range(100)]) is None
    assert calibrated([Mark(confidence=-0.1, right=True)] * 29) is None
    assert calibrated([Mark(confidence=-0.1, right=True)] * 100) == -0.1
