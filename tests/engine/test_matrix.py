"""Products are those of torch's default kernels, and no row of one depends on the others."""

import pytest
import torch
from torch import Tensor

from unmask.engine import matrix
from unmask.engine.matrix import MIN_ROWS, Matrix, can_pack

WIDTHS = [(32, 96), (192, 576), (768, 192), (192, 1280)]
TOLERANCE = {torch.float32: 1e-5, torch.bfloat16: 0.05}


def normal(rows: int, columns: int) -> Tensor:
    """Draw a matrix, the same every time."""
    return torch.randn(rows, columns, generator=torch.Generator().manual_seed(rows))


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize(("width", "out"), WIDTHS)
def test_products_are_right(
    width: int, out: int, dtype: torch.dtype, packed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With oneDNN's kernels, where they run, and without."""
    if not packed:
        monkeypatch.setattr(matrix, "can_pack", lambda _dtype: False)
    values, weight = normal(40, width), normal(out, width) / width**0.5
    product = Matrix(weight.to(dtype))(values)

    assert product.dtype is dtype
    assert torch.allclose(product.double(), values.double() @ weight.double().T, rtol=0, atol=TOLERANCE[dtype])


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize(("width", "out"), WIDTHS)
def test_a_row_does_not_depend_on_the_others(
    width: int, out: int, packed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Alone, among few and among many a row has the same product."""
    if not packed:
        monkeypatch.setattr(matrix, "can_pack", lambda _dtype: False)
    values = normal(3 * MIN_ROWS, width)
    multiply = Matrix(normal(out, width) / width**0.5)
    together = multiply(values)

    for rows in (0, 1, 2, 7, 11, MIN_ROWS, MIN_ROWS + 3):
        found = multiply(values[:rows])
        assert found.shape == (rows, out)
        assert torch.allclose(found, together[:rows], rtol=0, atol=1e-6)


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize(("width", "out"), WIDTHS)
def test_a_product_is_added_where_the_total_lies(
    width: int, out: int, packed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With whatever kernel, and no row of the sum depends on the others."""
    if not packed:
        monkeypatch.setattr(matrix, "can_pack", lambda _dtype: False)
    values, total = normal(3 * MIN_ROWS, width), normal(3 * MIN_ROWS, out)
    weight = normal(out, width) / width**0.5
    multiply = Matrix(weight)
    together = multiply.add_to(total.clone(), values)

    assert torch.allclose(together.double(), total.double() + values.double() @ weight.double().T, rtol=0, atol=1e-5)
    for rows in (1, 2, 7, MIN_ROWS + 3):
        found = multiply.add_to(total[:rows].clone(), values[:rows])
        assert torch.allclose(found, together[:rows], rtol=0, atol=1e-6)


def test_kernels_are_there_where_processors_have_them() -> None:
    """On x86 single precision is always packed; a torch whose operators are gone or renamed would show here."""
    on_x86 = torch.backends.cpu.get_cpu_capability().startswith("AVX") and torch.backends.mkldnn.is_available()

    assert can_pack(torch.float32) is on_x86
