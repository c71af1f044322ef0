"""Prophet: all at once when the likeliest tokens lead clearly."""

import pytest

from tests.engine.strategies.handmade import revealed, sure, view
from unmask.engine.strategies.prophet import Prophet


def step(gap: list[float], *, taken: int, of: int, until: int | None = None, threshold: float = 2.5) -> list[int]:
    """Return what the step after ``taken`` of ``of`` steps reveals."""
    signals = sure([0.5] * len(gap), gap=gap)
    canvas = view([0] * len(gap), step=taken, steps_left=of - taken, until=until)
    return revealed(Prophet(threshold=threshold).step(canvas, signals, None))


@pytest.mark.parametrize(("taken", "needed"), [(0, 7.5), (2, 7.5), (3, 5.0), (5, 5.0), (6, 2.5), (7, 2.5)], ids=str)
def test_each_third_of_the_budget_asks_for_less(taken: int, needed: float) -> None:
    """In the first, second and last third the mean lead must reach 7.5, 5.0 and 2.5, that value included."""
    everything = [0, 1, 2, 3]

    assert step([needed] * 4, taken=taken, of=9) == everything
    assert step([needed - 0.01] * 4, taken=taken, of=9) != everything


def test_the_mean_decides() -> None:
    """A clear position makes up for an unclear one."""
    assert step([15.0, 0.0], taken=0, of=9) == [0, 1]


def test_only_candidates_count() -> None:
    """The lead behind the draft's first end token neither helps nor is revealed."""
    assert step([1.0, 1.0, 99.0, 99.0], taken=0, of=3, until=2) == [0]
    assert step([8.0, 8.0, 0.0, 0.0], taken=0, of=3, until=2) == [0, 1]


def test_without_a_lead_the_quota_is_forced() -> None:
    """Until then it reveals like low confidence."""
    assert step([0.1] * 6, taken=0, of=3) == [0, 1]


def test_the_threshold_scales_every_third() -> None:
    """The threshold is that of the last third, the others three and two times it."""
    assert step([3.0] * 4, taken=0, of=9, threshold=1.0) == [0, 1, 2, 3]
    assert step([2.9] * 4, taken=0, of=9, threshold=1.0) == [0]
