"""A block of the network as inference runs it: the same function, in fewer passes over memory."""

import torch
from torch import Tensor

from unmask.engine.network import Block
from unmask.engine.precision import add_product, dtype_of, make_product
from unmask.types import Precision

# A power of two, by which weights are scaled back exactly. Nothing smaller is scaled: it stands for a norm's epsilon.
UNIT = 2.0**-12


class Layer:
    """One layer's weights in the precision of its products; everything between products is in single precision."""

    def __init__(self, block: Block, precision: Precision) -> None:
        scale = block.query_scale.detach()
        self._heads = len(scale)
        self._dtype = dtype_of(precision)
        head_width = block.qkv.in_features // self._heads
        self._scales = torch.stack((scale, torch.ones_like(scale))) * head_width**0.5
        self._least = UNIT * head_width**0.5
        self._qkv = make_product(block.qkv.weight[_paired(self._heads, block.qkv.in_features)] / UNIT, precision)
        self._out = make_product(block.out.weight, precision)
        self._up = make_product(block.up.weight / UNIT, precision)
        self._down = make_product(block.down.weight, precision)
        self.nbytes = sum(product.nbytes for product in (self._qkv, self._out, self._up, self._down))

    def project(self, hidden: Tensor, turns: Tensor) -> tuple[Tensor, Tensor]:
        """Make queries, keys and values of flat tokens; see `unmask.engine.network.project`.

        Args:
            hidden: ``[tokens, width]``.
            turns: see `turn_table`, at the tokens' positions.

        Returns:
            Queries ``[tokens, width]``, and keys and values side by side ``[tokens, 2 × width]``, in pages' type.
        """
        fused = self._qkv(to_unit(hidden)).float()
        tokens, width = hidden.shape
        turned, _ = fused.split_with_sizes((2 * width, width), 1)
        turned = turned.view(tokens, 2, self._heads, -1)
        lengths = torch.linalg.vector_norm(turned, dim=-1, keepdim=True)
        turned.mul_(self._scales / lengths.clamp_min_(self._least))
        torch.view_as_complex(turned.view(tokens, 2, self._heads, -1, 2)).mul_(turns)
        queries, kept = fused.to(self._dtype).split_with_sizes((width, 2 * width), 1)
        return queries, kept

    def finish(self, hidden: Tensor, attended: Tensor) -> Tensor:
        """Add the projected attention output ``[tokens, width]`` and the feed-forward to ``hidden``, in place."""
        hidden = add_product(hidden, self._out, attended)
        return add_product(hidden, self._down, self._up(to_unit(hidden)).relu_().square_())


def to_unit(values: Tensor) -> Tensor:
    """Scale rows ``[rows, width]`` to a root mean square of `UNIT`: in fewer calls than torch's norms take."""
    return torch.renorm(values, 2, 0, UNIT * values.shape[1] ** 0.5)


def turn_table(cosine: Tensor, sine: Tensor) -> Tensor:
    """Return the rotary table as complex numbers, ``[length, 1, 1, head_width / 2]``."""
    return torch.complex(cosine, sine)[:, None, None]


def _paired(heads: int, width: int) -> Tensor:
    """Order the rows of a fused projection so that the two halves of a pair to be turned lie side by side.

    Queries and keys alike: their products are the same in any order.
    """
    pairs = torch.arange(width).view(heads, 2, -1).transpose(1, 2).flatten()
    return torch.cat((pairs, width + pairs, torch.arange(2 * width, 3 * width)))
