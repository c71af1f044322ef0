"""Products of eight-bit whole numbers: the weight is rounded once, what it is multiplied with at every call."""

import torch
from torch import Tensor

from unmask.engine.matrix import TYPICAL_ROWS

LEVELS = 127
# oneDNN's quick kernels take unsigned values: zero lies in the middle.
ZERO = 128
SMALLEST = 1e-12
OUTPUT_BYTES = 12
"""Of an output's scale and zero."""


class Int8Matrix:
    """A weight ``[out, in]`` with a scale for each output, for values with a scale for each row.

    A scale of all rows together would make a row's product depend on the others.
    """

    def __init__(self, weight: Tensor) -> None:
        weight = weight.detach().float()
        self._scales = weight.abs().amax(1).clamp_min_(SMALLEST).div_(LEVELS)
        rounded = weight.div(self._scales[:, None]).round_().to(torch.int8)
        self._zeros = torch.zeros(len(weight), dtype=torch.int64)
        self._weight = torch.ops.onednn.qlinear_prepack(rounded, [TYPICAL_ROWS, weight.shape[1]])
        self.nbytes = rounded.nbytes + self._scales.nbytes + self._zeros.nbytes

    def __call__(self, values: Tensor) -> Tensor:
        """Return ``values @ weight.T`` in single precision, for ``values [rows, in]`` of any."""
        values = values.float()
        # Two reductions are quicker than a matrix of absolute values.
        peaks = torch.maximum(values.amax(1, keepdim=True), values.amin(1, keepdim=True).neg_()).clamp_min_(SMALLEST)
        # By way of signed numbers, for which torch has a vectorised conversion.
        rounded = values.mul(LEVELS / peaks).round_().to(torch.int8).view(torch.uint8).bitwise_xor_(ZERO)
        product: Tensor = torch.ops.onednn.qlinear_pointwise(
            rounded, 1.0, ZERO, self._weight, self._scales, self._zeros, None, 1.0, 0, torch.float32, "none", [], ""
        )
        return product.mul_(peaks.div_(LEVELS))


def has_int8() -> bool:
    """Tell whether oneDNN has these products here."""
    return torch.backends.mkldnn.is_available() and hasattr(torch.ops.onednn, "qlinear_pointwise")
