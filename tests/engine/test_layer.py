"""A layer computes what its block computes."""

from typing import cast

import pytest
import torch
from torch import Tensor

from unmask.engine.layer import Layer, turn_table
from unmask.engine.network import Block
from unmask.engine.precision import dtype_of
from unmask.testing.networks import TINY_SHAPE, make_network
from unmask.types import Precision

NETWORK = make_network()
HEADS, WIDTH = TINY_SHAPE.heads, TINY_SHAPE.width
TOKENS = 40
TOLERANCES = [(Precision.FLOAT32, 1e-5), (Precision.BFLOAT16, 0.05), (Precision.INT8, 0.1), (Precision.INT4, 0.6)]


def normal(rows: int, columns: int) -> Tensor:
    """Draw a matrix, the same every time."""
    return torch.randn(rows, columns, generator=torch.Generator().manual_seed(rows))


def make_layer(precision: Precision) -> tuple[Layer, Block]:
    """Return a layer and the block it was made of, whose queries are scaled head by head."""
    block = cast("Block", NETWORK.blocks[1])
    with torch.no_grad():
        block.query_scale.copy_(torch.linspace(0.2, 0.4, HEADS).unsqueeze(-1))
    return Layer(block, precision), block


@pytest.mark.parametrize(("precision", "tolerance"), TOLERANCES)
@torch.inference_mode()
def test_scores_and_values_are_the_block_s(precision: Precision, tolerance: float) -> None:
    """Pairs are in another order in queries and keys alike, so every product of the two is the same."""
    layer, block = make_layer(precision)
    hidden, table = normal(TOKENS, WIDTH), turn_table(NETWORK.cosine, NETWORK.sine)
    queries, kept = (found.float() for found in layer.project(hidden, table[:TOKENS]))
    query, key, value = block.project(hidden, NETWORK.cosine[:TOKENS], NETWORK.sine[:TOKENS])
    keys, values = kept.view(TOKENS, 2, HEADS, -1).unbind(1)

    scores = torch.einsum("qhd,khd->hqk", queries.view(TOKENS, HEADS, -1), keys)
    assert torch.allclose(scores, torch.einsum("qhd,khd->hqk", query, key), rtol=0, atol=tolerance)
    assert torch.allclose(values, value, rtol=0, atol=tolerance)


@pytest.mark.parametrize(("precision", "tolerance"), TOLERANCES)
@torch.inference_mode()
def test_what_follows_attention_is_the_block_s(precision: Precision, tolerance: float) -> None:
    """Projection, residual stream and feed-forward, added where the residual stream lies."""
    layer, block = make_layer(precision)
    hidden, attended = normal(2 * TOKENS, WIDTH).chunk(2)
    expected = block.finish(hidden, attended.view(TOKENS, HEADS, -1))
    finished = layer.finish(hidden, attended.to(dtype_of(precision)))

    assert finished.dtype is torch.float32
    assert finished.data_ptr() == hidden.data_ptr()
    assert torch.allclose(finished, expected, rtol=0, atol=tolerance)
