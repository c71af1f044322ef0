"""What a precision means to a forward: the type of pages and attention, and how weights are multiplied."""

from collections.abc import Sequence
from typing import Protocol, assert_never

import torch
from torch import Tensor

from unmask.engine.int4 import GROUP, GROUP_BYTES, Int4Matrix
from unmask.engine.int8 import OUTPUT_BYTES, Int8Matrix, has_int8
from unmask.engine.matrix import Matrix, by_mkl
from unmask.engine.network import Shape
from unmask.types import Precision

ROW_STEP = 16


class Product(Protocol):
    """A weight ``[out, in]``, laid out once; ``nbytes`` is what it takes.

    No row of a product depends on the others.
    """

    nbytes: int

    def __call__(self, values: Tensor) -> Tensor:
        """Return ``values @ weight.T``, for ``values [rows, in]`` of any precision."""
        ...


def dtype_of(precision: Precision) -> torch.dtype:
    """Return torch's type of pages and attention; whole numbers hold weights alone."""
    match precision:
        case Precision.FLOAT32:
            return torch.float32
        case Precision.BFLOAT16 | Precision.INT8 | Precision.INT4:
            return torch.bfloat16
        case _:
            assert_never(precision)


def make_product(weight: Tensor, precision: Precision) -> Product:
    """Lay a weight out in a precision."""
    match precision:
        case Precision.FLOAT32 | Precision.BFLOAT16:
            return Matrix(weight.to(dtype_of(precision)))
        case Precision.INT8:
            return Int8Matrix(weight)
        case Precision.INT4:
            return Int4Matrix(weight)
        case _:
            assert_never(precision)


def row_step(precision: Precision) -> int:
    """Return a number of rows of which larger ones are rounded up to a multiple.

    OneDNN makes a kernel for each number of rows, which takes about a millisecond, and keeps a thousand of them.
    """
    return 1 if by_mkl(dtype_of(precision)) else ROW_STEP


def add_product(total: Tensor, product: Product, values: Tensor) -> Tensor:
    """Add ``values @ weight.T`` to a total in single precision, in place, and return it."""
    return product.add_to(total, values) if isinstance(product, Matrix) else total.add_(product(values))


def product_bytes(size: tuple[int, int], precision: Precision) -> int:
    """Return what a weight ``[out, in]`` takes once it is laid out: `Product.nbytes`, known before there is one."""
    out, inputs = size
    match precision:
        case Precision.FLOAT32 | Precision.BFLOAT16:
            return out * inputs * dtype_of(precision).itemsize
        case Precision.INT8:
            return out * (inputs + OUTPUT_BYTES)
        case Precision.INT4:
            return out * (inputs // 2 + inputs // GROUP * GROUP_BYTES)
        case _:
            assert_never(precision)


def precision_fault(precision: Precision, shape: Shape) -> str | None:
    """Say why a network of a shape cannot run in a precision here; nothing where it can."""
    return widths_fault(precision, (shape.width, shape.hidden))


def widths_fault(precision: Precision, widths: Sequence[int]) -> str | None:
    """Say why products of these widths cannot be had in a precision here; nothing where they can."""
    match precision:
        case Precision.FLOAT32 | Precision.BFLOAT16:
            return None
        case Precision.INT8:
            return None if has_int8() else "torch has no oneDNN here, whose products it takes"
        case Precision.INT4:
            fits = all(width % GROUP == 0 for width in widths)
            shown = ", ".join(map(str, widths))
            return None if fits else f"it takes widths that are multiples of {GROUP}: {shown}"
        case _:
            assert_never(precision)
