"""The noise that canvases start from."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from unmask.engine.renoising.canvas import noise


@given(st.integers(), st.integers(0, 9), st.integers(0, 99))
def test_noise_is_a_function_of_seed_canvas_and_step(seed: int, canvas: int, step: int) -> None:
    """So a request's noise is the same whatever runs beside it."""
    assert noise(seed, canvas, step, 16, 1000).tolist() == noise(seed, canvas, step, 16, 1000).tolist()


def test_noise_differs_with_each_of_them() -> None:
    """No two seeds, canvases or steps share it."""
    keys = product(range(3), range(3), range(3))
    found = [tuple(noise(seed, canvas, step, 16, 1000).tolist()) for seed, canvas, step in keys]

    assert len(set(found)) == 27


def test_noise_is_drawn_from_all_ids_evenly() -> None:
    """Every id, and none beyond; of 10,000 draws each of ten has within five deviations of a tenth."""
    drawn = noise(1, 0, 0, 10_000, 10).tolist()

    assert {*drawn} == {*range(10)}
    assert all(abs(drawn.count(token) - 1000) < 150 for token in range(10))
