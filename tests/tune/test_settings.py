"""What a curve run may be asked, and what it fills in."""

import pytest

from unmask.errors import InvalidRequestError
from unmask.testing.builders import make_model
from unmask.tune.settings import Asked, default_grid, make_settings
from unmask.types import Mode

MODEL = make_model("tiny")


@pytest.mark.parametrize(
    ("most", "grid"), [(1, (1,)), (2, (1, 2)), (16, (1, 2, 3, 4, 6, 8, 12, 16)), (20, (1, 2, 3, 4, 6, 8, 12, 16, 20))]
)
def test_the_default_grid_ends_with_the_canvas(most: int, grid: tuple[int, ...]) -> None:
    """Powers of two, the middles between them, and the largest budget there is."""
    assert default_grid(most) == grid


def test_defaults_are_the_models() -> None:
    """Canvas, tasks in the order of the tables, the whole grid, diffusion."""
    settings = make_settings(MODEL, Asked())

    assert (settings.canvas_length, settings.grid[-1], settings.mode) == (16, 16, Mode.DIFFUSION)
    assert settings.tasks == ("arithmetic", "sort")
    assert settings.model_digest == MODEL.digest


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (Asked(grid=(1, 4)), "--grid is '1,4', allowed: rising budgets, the first 1 and the last 16"),
        (Asked(grid=(2, 16)), "--grid"),
        (Asked(grid=(1, 8, 4, 16)), "--grid"),
        (Asked(grid=(1, 1, 16)), "--grid"),
        (Asked(tasks=("poetry",)), "--task is 'poetry', allowed: arithmetic, sort"),
        (Asked(tasks=("latin",)), "--task"),
        (Asked(items=0), "--items is 0"),
        (Asked(in_flight=0), "--in-flight is 0"),
        (Asked(canvas_length=7), "--canvas-length is 7, allowed: 8, 16, 32"),
    ],
)
def test_wrong_values_are_named(asked: Asked, message: str) -> None:
    """Each is refused with what is allowed."""
    with pytest.raises(InvalidRequestError) as caught:
        make_settings(MODEL, asked)
    assert message in caught.value.message


def test_a_budget_above_the_models_limit_is_not_measured() -> None:
    """A model may allow fewer steps than its canvas has positions."""
    assert make_settings(make_model(max_steps=12), Asked()).grid[-1] == 12
