"""Networks small enough for a test, with weights drawn from a seed."""

from collections.abc import Sequence

import torch

from unmask.engine.adapter import Adapter
from unmask.engine.network import Network, Shape

TINY_SHAPE = Shape(
    vocabulary=64, width=32, layers=2, heads=2, hidden=64, context_length=256, canvas_lengths=(8, 16, 32)
)
TINY_ADAPTER = Adapter(mask=0, end=1, forbidden=(0,))
FIRST_LETTER = 32


def make_network(shape: Shape = TINY_SHAPE, *, seed: int = 0, sharpness: float = 6.0, ending: float = 0.65) -> Network:
    """Return an untrained network.

    Args:
        shape: its sizes.
        seed: what its weights are drawn from.
        sharpness: how sure it is of its tokens.
        ending: how readily it ends a text, 1 being as readily as it draws any other token.
    """
    state = torch.random.get_rng_state()
    torch.manual_seed(seed)
    network = Network(shape)
    torch.random.set_rng_state(state)
    with torch.no_grad():
        network.head.weight.mul_(sharpness)
        network.head.weight[TINY_ADAPTER.end].mul_(ending)
    return network


def letter(token: int) -> bytes:
    """Return the bytes of an id of the tiny vocabulary: a letter, none for mask and end."""
    return bytes([FIRST_LETTER + token]) if token > TINY_ADAPTER.end else b""


def spell(tokens: Sequence[int]) -> str:
    """Decode ids of the tiny vocabulary."""
    return b"".join(map(letter, tokens)).decode("ascii")
