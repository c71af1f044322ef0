"""The embedded transformer: causal context, bidirectional canvas, one set of weights for both.

Pre-norm blocks with QK-norm, rotary positions and squared ReLU. Canvas tokens
carry a learned embedding of their position in the canvas; appended tokens do
not, which is how the network tells a guess to be filled from text to be
continued.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Sizes of a network."""

    vocabulary: int
    width: int
    layers: int
    heads: int
    hidden: int
    context_length: int
    canvas_lengths: tuple[int, ...]

    @property
    def head_width(self) -> int:
        """Width of one attention head."""
        return self.width // self.heads

    def weights(self) -> dict[str, tuple[int, ...]]:
        """Return the size of each tensor of such a network, which takes no memory and no time."""
        layer = {
            "query_scale": (self.heads, 1),
            "qkv.weight": (3 * self.width, self.width),
            "out.weight": (self.width, self.width),
            "up.weight": (self.hidden, self.width),
            "down.weight": (self.width, self.hidden),
        }
        return {
            "tokens.weight": (self.vocabulary, self.width),
            "canvas.weight": (max(self.canvas_lengths), self.width),
            **{f"blocks.{index}.{name}": size for index in range(self.layers) for name, size in layer.items()},
            "head.weight": (self.vocabulary, self.width),
        }


def rotary_table(length: int, head_width: int) -> tuple[Tensor, Tensor]:
    """Return cosines and sines, each ``[length, head_width / 2]`` (Su et al. 2021, RoPE)."""
    rates = 10_000.0 ** -(torch.arange(0, head_width, 2, dtype=torch.float32) / head_width)
    angles = torch.outer(torch.arange(length, dtype=torch.float32), rates)
    return angles.cos(), angles.sin()


def rotate(heads: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Rotate ``[..., heads, head_width]`` by tables broadcast over heads."""
    left, right = heads.chunk(2, dim=-1)
    return torch.cat((left * cosine - right * sine, right * cosine + left * sine), dim=-1)


def normalise(values: Tensor) -> Tensor:
    """Scale to unit root mean square over the last dimension."""
    return F.rms_norm(values, (values.shape[-1],))


def embed(token_weight: Tensor, canvas_weight: Tensor, tokens: Tensor, canvas_positions: Tensor) -> Tensor:
    """Embed ids; ``canvas_positions`` is −1 where a token is appended, else its place in the canvas."""
    in_canvas = (canvas_positions >= 0).unsqueeze(-1)
    return normalise(
        F.embedding(tokens, token_weight) + F.embedding(canvas_positions.clamp_min(0), canvas_weight) * in_canvas
    )


def project(hidden: Tensor, cosine: Tensor, sine: Tensor, qkv: Tensor, scale: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Make queries, keys and values of flat tokens.

    Args:
        hidden: ``[tokens, width]``.
        cosine: rotary table at the tokens' positions, ``[tokens, head_width / 2]``.
        sine: same.
        qkv: weight of the fused projection.
        scale: learned scale of the queries, ``[heads, 1]``.

    Returns:
        Three tensors ``[tokens, heads, head_width]``; queries and keys normalised and rotated.
    """
    fused = F.linear(normalise(hidden), qkv).unflatten(-1, (3, len(scale), -1))
    # Queries and keys are normalised and turned together: half the calls.
    turned = rotate(normalise(fused[:, :2]), cosine[:, None, None], sine[:, None, None]).to(fused.dtype)
    return turned[:, 0] * scale.to(fused.dtype), turned[:, 1], fused[:, 2]


def finish(hidden: Tensor, attended: Tensor, out: Tensor, up: Tensor, down: Tensor) -> Tensor:
    """Add the projected attention output and the feed-forward to the residual stream of flat tokens."""
    hidden = hidden + F.linear(attended.flatten(-2), out)
    return hidden + F.linear(F.relu(F.linear(normalise(hidden), up)).square(), down)


class Block(nn.Module):
    """Weights of one layer; attention itself is the caller's."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.qkv = nn.Linear(shape.width, 3 * shape.width, bias=False)
        self.out = nn.Linear(shape.width, shape.width, bias=False)
        self.up = nn.Linear(shape.width, shape.hidden, bias=False)
        self.down = nn.Linear(shape.hidden, shape.width, bias=False)
        self.query_scale = nn.Parameter(torch.full((shape.heads, 1), 1.5 * shape.head_width**-0.5))

    def project(self, hidden: Tensor, cosine: Tensor, sine: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return rotated, normalised queries and keys and plain values, each ``[tokens, heads, head_width]``."""
        return project(hidden, cosine, sine, self.qkv.weight, self.query_scale)

    def finish(self, hidden: Tensor, attended: Tensor) -> Tensor:
        """Add the attention output ``[tokens, heads, head_width]`` and the feed-forward to ``hidden``."""
        return finish(hidden, attended, self.out.weight, self.up.weight, self.down.weight)


class Network(nn.Module):
    """Weights of the embedded model; the passes over them live with whoever runs them."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.tokens = nn.Embedding(shape.vocabulary, shape.width)
        self.canvas = nn.Embedding(max(shape.canvas_lengths), shape.width)
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.head = nn.Linear(shape.width, shape.vocabulary, bias=False)
        cosine, sine = rotary_table(shape.context_length, shape.head_width)
        self.cosine: Tensor
        self.sine: Tensor
        self.register_buffer("cosine", cosine, persistent=False)
        self.register_buffer("sine", sine, persistent=False)

    def embed(self, tokens: Tensor, canvas_positions: Tensor) -> Tensor:
        """Embed ids; ``canvas_positions`` is −1 where a token is appended, else its place in the canvas."""
        return embed(self.tokens.weight, self.canvas.weight, tokens, canvas_positions)

    def logits(self, hidden: Tensor) -> Tensor:
        """Return logits over the vocabulary."""
        logits: Tensor = self.head(normalise(hidden))
        return logits
