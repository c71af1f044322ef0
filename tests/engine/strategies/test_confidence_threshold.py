"""Confidence threshold: everything sure enough, at least the surest."""

from tests.engine.strategies.handmade import revealed, sure, view
from unmask.engine.strategies.confidence_threshold import ConfidenceThreshold


def test_threshold_includes_its_value() -> None:
    """Every candidate whose probability is at least the threshold is revealed."""
    update = ConfidenceThreshold(threshold=0.75).step(view([0] * 4), sure([0.75, 0.5, 0.9, 0.74]), None)

    assert revealed(update) == [0, 2]


def test_the_surest_is_forced() -> None:
    """Where none is sure enough the surest is revealed alone, the earlier of two."""
    update = ConfidenceThreshold().step(view([0] * 4), sure([0.1, 0.6, 0.6, 0.2]), None)

    assert revealed(update) == [1]


def test_a_threshold_above_one_reveals_one_token_a_step() -> None:
    """Nothing reaches it, so each step reveals the surest."""
    update = ConfidenceThreshold(threshold=1.5).step(view([0] * 3), sure([1 - 1e-9, 0.5, 1 - 1e-9]), None)

    assert revealed(update) == [0]


def test_sure_positions_behind_the_end_stay_open() -> None:
    """Padding behind the draft's first end token is not revealed."""
    update = ConfidenceThreshold().step(view([0] * 4, until=2), sure([0.95, 0.1, 0.99, 0.99]), None)

    assert revealed(update) == [0]
