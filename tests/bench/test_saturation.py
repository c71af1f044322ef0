"""What steps buy is read off curves as defined."""

from unmask.bench.saturation import is_flat, is_steep, saturation, saturation_figures, saturation_targets, spread
from unmask.testing.curves import make_curve


def test_saturation_is_the_fewest_steps_within_a_point_of_the_best() -> None:
    """A budget that reaches the maximum saturates, later ones add nothing."""
    assert saturation(make_curve("0000", "1111", "1111")) == 4
    assert saturation(make_curve("0000", "1110", "1111")) == 8


def test_sufficient_steps_count_from_where_an_answer_stays_right() -> None:
    """An answer that is right, wrong and right again needs the later budget; one wrong at the end has none."""
    curve = make_curve("1100", "1010", "1110")

    assert curve.sufficient.tolist() == [1, 8, 4, 0]


def test_flat_and_steep() -> None:
    """Steps matter where quality saturates late and items differ; they do not where the first step is as good."""
    flat, steep = (
        make_curve("1" * 40, "1" * 40, "1" * 40),
        make_curve("1" * 10 + "0" * 30, "1" * 20 + "0" * 20, "1" * 40),
    )

    assert (is_flat(flat), is_steep(flat)) == (True, False)
    assert (is_flat(steep), is_steep(steep)) == (False, True)
    held = {entry.name: entry.value for entry in saturation_targets([flat, steep, steep])}
    assert held == {"steep_task_types": 2, "flat_task_types": 1}


def test_a_task_that_is_mostly_wrong_is_not_flat() -> None:
    """No gain from steps is no virtue where nothing is right."""
    wrong = "1" + "0" * 39

    assert not is_flat(make_curve(wrong, wrong, wrong))


def test_a_task_that_is_never_right_has_no_spread() -> None:
    """Nothing right is no reason to divide by zero."""
    curve = make_curve("0" * 20, "0" * 20, "0" * 20)

    assert spread(curve) == 1.0
    assert {figure.name for figure in saturation_figures(curve, 0)} >= {"sort.saturation_steps", "sort.gain"}
