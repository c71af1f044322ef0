"""The matrix products of a forward, by whatever is quickest on this processor."""

from functools import cache
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional as F

# Rows a weight is laid out for; other numbers of rows run on the same layout as fast.
TYPICAL_ROWS = 512
# Torch's default kernels give fewer rows other last bits than the same rows among many.
MIN_ROWS = 16
# MKL on an Intel processor only one row, and only where the weight is laid out ``[in, out]``.
MIN_ROWS_INTEL = 2


class Matrix:
    """A weight ``[out, in]``, laid out once for the products of inference.

    Torch sends single-precision products to MKL. On Intel's processors that is quicker than oneDNN, the more so with
    few rows, once the weight lies the other way round. On others it runs at half the speed of oneDNN, whose operators
    used here are those that `torch.compile` emits for a linear layer with frozen weights.

    Args:
        weight: ``[out, in]``.
        prefers_onednn: whether oneDNN is taken wherever it runs, so that the two can be compared.
    """

    def __init__(self, weight: Tensor, *, prefers_onednn: bool = False) -> None:
        weight = weight.detach()
        self.nbytes = weight.nbytes
        self._is_packed = can_pack(weight.dtype) and (prefers_onednn or not by_mkl(weight.dtype))
        if self._is_packed:
            self._weight = torch.ops.mkldnn._reorder_linear_weight(weight.contiguous(), TYPICAL_ROWS)  # noqa: SLF001
        else:
            self._weight = weight.t().contiguous()
        self._least = MIN_ROWS_INTEL if on_intel() else MIN_ROWS

    def __call__(self, values: Tensor) -> Tensor:
        """Return ``values @ weight.T`` in the weight's precision, for ``values [rows, in]`` of any."""
        if values.dtype is not self._weight.dtype:
            values = values.to(self._weight.dtype)
        if self._is_packed:
            product: Tensor = torch.ops.mkldnn._linear_pointwise(values, self._weight, None, "none", [], "")  # noqa: SLF001
            return product
        rows = values.shape[0]
        if rows < self._least:
            return torch.mm(F.pad(values, (0, 0, 0, self._least - rows)), self._weight)[:rows]
        return torch.mm(values, self._weight)

    def add_to(self, total: Tensor, values: Tensor) -> Tensor:
        """Add ``values @ weight.T`` to a total in single precision, in place, and return it; one call of MKL."""
        if self._is_packed or self._weight.dtype is not total.dtype or values.shape[0] < self._least:
            return total.add_(self(values))
        return total.addmm_(values, self._weight)


@cache
def on_intel() -> bool:
    """Tell whether the processor is one that MKL is written for; where that is not known, it is not."""
    try:
        return "GenuineIntel" in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False


def by_mkl(dtype: torch.dtype) -> bool:
    """Tell whether MKL is the quickest for this precision here."""
    return dtype == torch.float32 and on_intel()


def can_pack(dtype: torch.dtype) -> bool:
    """Tell whether oneDNN has kernels for this precision here; elsewhere torch's default serves."""
    on_x86 = torch.backends.cpu.get_cpu_capability().startswith("AVX")
    if not on_x86 or not torch.backends.mkldnn.is_available() or not hasattr(torch.ops.mkldnn, "_linear_pointwise"):
        return False
    return dtype == torch.float32 or bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())  # noqa: SLF001
