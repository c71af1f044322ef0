"""Bytes are counted where they lie."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from tests.bench import small
from unmask.bench.held_bytes import held_bytes
from unmask.engine.runner import Runner
from unmask.testing.networks import make_network
from unmask.types import Precision

# As wide as oneDNN's blocks, which it fills up where weights are narrower.
SHAPE = replace(small.SHAPE, width=64, hidden=128)


@dataclass(slots=True)
class Holder:
    """Something that holds tensors."""

    tensors: list[Tensor]


def test_a_storage_counts_once() -> None:
    """However many views of it there are, and all of it, though a view shows a part."""
    values = torch.zeros(10, 4)
    assert held_bytes(Holder([values, values[:2], values.T])) == 160
    assert held_bytes(Holder([values[:1]])) == 160
    assert held_bytes(Holder([values]), {"another": torch.zeros(3, dtype=torch.bfloat16)}) == 166
    assert held_bytes(Holder([])) == 0


def test_a_runner_holds_its_weights_once() -> None:
    """What it has laid out and embeds with, its pages and its table, and no layer of the network beside them."""
    network = make_network(SHAPE)
    runner = Runner(network, pages=3, page_size=8)
    weights = sum(parameter.nbytes for parameter in network.parameters())
    table = SHAPE.context_length * SHAPE.head_width // 2 * 8
    pool = 25 * SHAPE.layers * 2 * SHAPE.width * 4
    # The scales of keys stand beside those of queries, and a line for what is in no canvas before those of places.
    more = SHAPE.layers * SHAPE.heads * 4 + SHAPE.width * 4
    assert held_bytes(runner) == weights + table + pool + more
    assert runner.page_bytes * 25 == pool * 8


def test_half_the_precision_is_half_the_bytes_of_layers_and_pages() -> None:
    """Embeddings and the head stay as they are."""
    network = make_network(SHAPE)
    whole, half = (
        held_bytes(Runner(network, pages=3, page_size=8, precision=precision))
        for precision in (Precision.FLOAT32, Precision.BFLOAT16)
    )
    layers = sum(parameter.nbytes for block in network.blocks for parameter in block.parameters())
    scales = sum(block.get_parameter("query_scale").nbytes for block in network.blocks)
    pool = 25 * SHAPE.layers * 2 * SHAPE.width * 4
    assert whole - half == (layers - scales + pool) // 2
