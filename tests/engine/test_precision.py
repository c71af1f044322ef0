"""Weights of whole numbers: products near those of single precision, and no row of one depends on the others."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from unmask.engine import precision as precisions
from unmask.engine.int8 import Int8Matrix
from unmask.engine.precision import dtype_of, make_product, precision_fault, product_bytes
from unmask.engine.runner import Runner
from unmask.testing.networks import TINY_SHAPE, make_network
from unmask.types import Precision

WIDTHS = [(32, 96), (192, 576), (768, 192)]
# Shares of the product's length: half a step of the rounding, in values and weights.
TOLERANCE = {Precision.FLOAT32: 1e-5, Precision.BFLOAT16: 0.01, Precision.INT8: 0.02, Precision.INT4: 0.12}


def normal(rows: int, columns: int) -> Tensor:
    """Draw a matrix, the same every time."""
    return torch.randn(rows, columns, generator=torch.Generator().manual_seed(rows))


@pytest.mark.parametrize("precision", Precision)
@pytest.mark.parametrize(("width", "out"), WIDTHS)
def test_products_are_near_the_exact_ones(width: int, out: int, precision: Precision) -> None:
    """As near as rounding allows, in whatever precision the values come."""
    values, weight = normal(40, width), normal(out, width) / width**0.5
    exact = values @ weight.T
    product = make_product(weight, precision)

    for given_values in (values, values.bfloat16()):
        off = (product(given_values).float() - exact).norm() / exact.norm()
        assert off < TOLERANCE[precision] + (0.01 if given_values.dtype is torch.bfloat16 else 0)


@pytest.mark.parametrize("precision", [Precision.INT8, Precision.INT4])
@pytest.mark.parametrize(("width", "out"), WIDTHS)
def test_a_row_does_not_depend_on_the_others(width: int, out: int, precision: Precision) -> None:
    """Alone, among few and among many a row has the same product, and so beside one a thousand times larger."""
    values = normal(70, width)
    values[-1] *= 1_000
    product = make_product(normal(out, width) / width**0.5, precision)
    together = product(values)

    for rows in (0, 1, 2, 7, 17, 33, 69):
        found = product(values[:rows])
        assert found.shape == (rows, out)
        assert torch.equal(found, together[:rows])


@given(exponent=st.integers(min_value=-20, max_value=20))
@settings(max_examples=20)
def test_a_row_is_rounded_by_its_own_size(exponent: int) -> None:
    """Doubling a row doubles its product, to the last bit: nothing is lost to small rows or clipped off large ones."""
    product, values = Int8Matrix(normal(96, 32)), normal(5, 32)

    assert torch.equal(product(values * 2.0**exponent), product(values) * 2.0**exponent)


@pytest.mark.parametrize("precision", [Precision.INT8, Precision.INT4])
def test_nothing_comes_of_nothing(precision: Precision) -> None:
    """A row or an output of zeros has no size to be rounded by, and gives zeros."""
    weight = normal(96, 32)
    weight[3] = 0
    values = normal(4, 32)
    values[2] = 0
    found = make_product(weight, precision)(values).float()

    assert found.isfinite().all()
    assert (found[2] == 0).all()
    assert (found[:, 3] == 0).all()


def test_rounder_weights_take_less_memory() -> None:
    """Weights shrink from each precision to the next, and pages once."""
    runners = [Runner(make_network(), pages=2, page_size=8, precision=precision) for precision in Precision]
    weights, pages = [runner.weight_bytes for runner in runners], [runner.page_bytes for runner in runners]

    assert weights == sorted(weights, reverse=True)
    assert len(set(weights)) == len(weights)
    assert pages == [8 * 2 * TINY_SHAPE.width * TINY_SHAPE.layers * dtype_of(each).itemsize for each in Precision]


def test_what_cannot_run_here_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without oneDNN there are no products of whole numbers."""
    assert [precision_fault(precision, TINY_SHAPE) for precision in Precision] == [None] * len(Precision)
    monkeypatch.setattr(precisions, "has_int8", lambda: False)

    assert "oneDNN" in (precision_fault(Precision.INT8, TINY_SHAPE) or "")


@pytest.mark.parametrize("precision", Precision)
def test_what_a_product_takes_is_known_beforehand(precision: Precision) -> None:
    """The bytes that a weight will take are those that it takes."""
    assert product_bytes((96, 64), precision) == make_product(torch.zeros(96, 64), precision).nbytes
