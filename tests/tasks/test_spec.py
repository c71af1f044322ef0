"""The frozen mixture and axis distributions."""

import math
from random import Random

import pytest

from unmask.tasks.registry import all_tasks
from unmask.tasks.spec import Axis, load_spec


def test_mixture_names_every_task_type() -> None:
    """Every task type has a share, and the shares are all there is."""
    mixture = load_spec().mixture
    assert set(mixture.values) == set(all_tasks())
    assert sum(mixture.weights) == pytest.approx(1.0)


def test_every_axis_is_a_distribution() -> None:
    """Weights are positive, sum to one, and belong to different values of a known task type."""
    for (task, _), axis in load_spec().axes.items():
        assert task in all_tasks()
        assert len(set(axis.values)) == len(axis.values) == len(axis.weights)
        assert min(axis.weights) > 0
        assert sum(axis.weights) == pytest.approx(1.0)


def test_unknown_axes_are_an_error() -> None:
    """Asking for an axis that is not in the spec is a programming error."""
    with pytest.raises(KeyError):
        load_spec().axis("lookup", "colour")


def test_draws_follow_the_weights() -> None:
    """Values come up in proportion to their weights, which need not sum to one."""
    axis = Axis(values=("1", "2"), weights=(3.0, 1.0))
    rng = Random(1)
    share = sum(axis.draw_int(rng) == 1 for _ in range(4000)) / 4000
    assert math.isclose(share, 0.75, abs_tol=0.03)


def test_truth_values_are_read_as_words() -> None:
    """A switch in the spec is drawn as ``true`` or ``false``."""
    assert set(load_spec().axis("dialogue", "closing").values) == {"true", "false"}
