"""The matrix products of a forward, by oneDNN where it runs on this processor."""

import torch
from torch import Tensor
from torch.nn import functional as F

# Rows a weight is laid out for; other numbers of rows run on the same layout as fast.
TYPICAL_ROWS = 512
# Torch's default kernels give fewer rows other last bits than the same rows among many (MKL on two threads: up to 11).
MIN_ROWS = 16


class Matrix:
    """A weight ``[out, in]``, laid out once for the products of inference.

    Torch sends single-precision products to MKL, which on processors other than Intel's runs at half the speed of
    oneDNN, and whose last bits depend on the number of rows. The operators used here are those that
    `torch.compile` emits for a linear layer with frozen weights.
    """

    def __init__(self, weight: Tensor) -> None:
        self._weight = weight.detach()
        self.nbytes = weight.nbytes
        self._is_packed = can_pack(weight.dtype)
        if self._is_packed:
            self._weight = torch.ops.mkldnn._reorder_linear_weight(self._weight.contiguous(), TYPICAL_ROWS)  # noqa: SLF001

    def __call__(self, values: Tensor) -> Tensor:
        """Return ``values @ weight.T`` in the weight's precision, for ``values [rows, in]`` of any."""
        values = values.to(self._weight.dtype)
        if self._is_packed:
            product: Tensor = torch.ops.mkldnn._linear_pointwise(values, self._weight, None, "none", [], "")  # noqa: SLF001
            return product
        rows = len(values)
        if rows < MIN_ROWS:
            values = F.pad(values, (0, 0, 0, MIN_ROWS - rows))
        return F.linear(values, self._weight)[:rows]


def can_pack(dtype: torch.dtype) -> bool:
    """Tell whether oneDNN has kernels for this precision here; elsewhere torch's default serves."""
    on_x86 = torch.backends.cpu.get_cpu_capability().startswith("AVX")
    if not on_x86 or not torch.backends.mkldnn.is_available() or not hasattr(torch.ops.mkldnn, "_linear_pointwise"):
        return False
    return dtype == torch.float32 or bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())  # noqa: SLF001
