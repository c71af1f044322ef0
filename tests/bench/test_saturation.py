"""What steps buy is read off curves as defined."""

import numpy as np

from unmask.bench.saturation import Curve, saturation_figures, saturation_targets


def make_curve(*rows: str, grid: tuple[int, ...] = (1, 4, 8)) -> Curve:
    """Return a curve from one row of 1 and 0 per budget."""
    correct = np.array([[mark == "1" for mark in row] for row in rows])
    return Curve(task="t", grid=grid, correct=correct, steps_used=tuple(map(float, grid)))


def test_saturation_is_the_fewest_steps_within_a_point_of_the_best() -> None:
    """A budget that reaches the maximum saturates, later ones add nothing."""
    assert make_curve("0000", "1111", "1111").saturation == 4
    assert make_curve("0000", "1110", "1111").saturation == 8


def test_sufficient_steps_count_from_where_an_answer_stays_right() -> None:
    """An answer that is right, wrong and right again needs the later budget; one wrong at the end is left out."""
    curve = make_curve("1100", "1010", "1110")

    assert curve.sufficient.tolist() == [1, 8, 4]


def test_flat_and_steep() -> None:
    """Steps matter where quality saturates late and items differ; they do not where the first step is as good."""
    flat, steep = (
        make_curve("1" * 40, "1" * 40, "1" * 40),
        make_curve("1" * 10 + "0" * 30, "1" * 20 + "0" * 20, "1" * 40),
    )

    assert (flat.is_flat, flat.is_steep) == (True, False)
    assert (steep.is_flat, steep.is_steep) == (False, True)
    held = {entry.name: entry.value for entry in saturation_targets([flat, steep, steep])}
    assert held == {"steep_task_types": 2, "flat_task_types": 1}


def test_a_task_that_is_mostly_wrong_is_not_flat() -> None:
    """No gain from steps is no virtue where nothing is right."""
    wrong = "1" + "0" * 39

    assert not make_curve(wrong, wrong, wrong).is_flat


def test_a_task_that_is_never_right_has_no_spread() -> None:
    """Nothing right is no reason to divide by zero."""
    curve = make_curve("0" * 20, "0" * 20, "0" * 20)

    assert curve.spread == 1.0
    assert {figure.name for figure in saturation_figures(curve, 0)} >= {"t.saturation_steps", "t.gain"}
