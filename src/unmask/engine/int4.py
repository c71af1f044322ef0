"""Products with a weight of four-bit whole numbers: a quarter of the memory of half precision, and no quicker."""

import torch
from torch import Tensor

GROUP = 32
"""Inputs that share a scale: the fewest that torch's kernel takes, as rounding is coarse."""
STEPS = 15
MIDDLE = 8
SMALLEST = 1e-12
INNER_TILES = 1
GROUP_BYTES = 4
"""Of a group's scale and zero."""


class Int4Matrix:
    """A weight ``[out, in]`` with a scale and a zero for each output and `GROUP` inputs; values are not rounded.

    Torch's kernel multiplies in bfloat16; in single precision it is hundreds of times slower.
    """

    def __init__(self, weight: Tensor) -> None:
        out, inputs = weight.shape
        groups = weight.detach().float().reshape(out, inputs // GROUP, GROUP)
        least, most = groups.amin(-1), groups.amax(-1)
        scales = (most - least).div_(STEPS).clamp_min_(SMALLEST)
        rounded = ((groups - least[..., None]) / scales[..., None]).round_().clamp_(0, STEPS)
        whole = rounded.to(torch.int32).reshape(out, inputs)
        self._weight = torch.ops.aten._convert_weight_to_int4pack_for_cpu(whole, INNER_TILES)  # noqa: SLF001
        zeros = least + scales * MIDDLE
        self._scales = torch.stack((scales, zeros), -1).transpose(0, 1).contiguous().bfloat16()
        self.nbytes = self._weight.nbytes + self._scales.nbytes

    def __call__(self, values: Tensor) -> Tensor:
        """Return ``values @ weight.T`` in bfloat16, for ``values [rows, in]`` of any precision."""
        product: Tensor = torch.ops.aten._weight_int4pack_mm_for_cpu(  # noqa: SLF001
            values.bfloat16(), self._weight, GROUP, self._scales
        )
        return product
