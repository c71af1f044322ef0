"""A decoder's weights, laid out for inference, and all of its computation but attention."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor
from torch.nn import functional as F

from unmask.engine.families.shape import DecoderShape, LayerNames, Names
from unmask.engine.matrix import Matrix
from unmask.engine.precision import Product, make_product
from unmask.types import Precision

ReadTensor = Callable[[str], Tensor]
"""Returns a tensor of the checkpoint by its name, in the type and on the device that it is to run in."""


class Linear:
    """A product with an optional bias; on a processor by the products whose rows do not depend on each other."""

    def __init__(self, weight: Tensor, bias: Tensor | None = None, precision: Precision | None = None) -> None:
        self._weight: Product | Tensor = weight
        if weight.device.type == "cpu":
            self._weight = Matrix(weight) if precision is None else make_product(weight, precision)
        self._bias = bias

    def __call__(self, values: Tensor) -> Tensor:
        """Return ``values @ weight.T + bias`` of ``values [rows, in]``."""
        if isinstance(self._weight, Tensor):
            return F.linear(values, self._weight, self._bias)
        product = self._weight(values).to(values.dtype)
        return product if self._bias is None else product + self._bias


@dataclass(frozen=True, slots=True, kw_only=True)
class Norm:
    """Root mean square norm, in single precision inside, with a learned scale."""

    scale: Tensor
    epsilon: float

    def __call__(self, values: Tensor) -> Tensor:
        """Norm the last dimension."""
        return self.scale * F.rms_norm(values.float(), (values.shape[-1],), eps=self.epsilon).to(values.dtype)


class DecoderLayer:
    """One layer."""

    def __init__(
        self, shape: DecoderShape, names: LayerNames, read: ReadTensor, precision: Precision | None = None
    ) -> None:
        self._heads, self._key_heads = shape.heads, shape.key_heads

        def linear(name: str, *, has_bias: bool = False) -> Linear:
            return Linear(read(f"{name}.weight"), read(f"{name}.bias") if has_bias else None, precision)

        def norm(name: str) -> Norm:
            return Norm(scale=read(f"{name}.weight"), epsilon=shape.epsilon)

        self._query = linear(names.query, has_bias=names.has_bias)
        self._key = linear(names.key, has_bias=names.has_bias)
        self._value = linear(names.value, has_bias=names.has_bias)
        self._out, self._gate = linear(names.out), linear(names.gate)
        self._up, self._down = linear(names.up), linear(names.down)
        self._attention_norm, self._hidden_norm = norm(names.attention_norm), norm(names.hidden_norm)
        self._query_norm = None if names.query_norm is None else norm(names.query_norm)
        self._key_norm = None if names.key_norm is None else norm(names.key_norm)

    def project(self, hidden: Tensor, turns: "Turns") -> tuple[Tensor, Tensor]:
        """Make queries, keys and values of flat tokens ``[tokens, width]``.

        Returns:
            Queries ``[tokens, heads, head_width]``; keys and values ``[tokens, 2, key_heads, head_width]``.
        """
        normed = self._attention_norm(hidden)
        query = self._query(normed).unflatten(-1, (self._heads, -1))
        key = self._key(normed).unflatten(-1, (self._key_heads, -1))
        value = self._value(normed).unflatten(-1, (self._key_heads, -1))
        if self._query_norm is not None and self._key_norm is not None:
            query, key = self._query_norm(query), self._key_norm(key)
        return turns.turn(query), torch.stack((turns.turn(key), value), dim=1)

    def finish(self, hidden: Tensor, attended: Tensor) -> Tensor:
        """Add what attention found ``[tokens, heads × head_width]`` and the feed-forward to ``hidden``."""
        hidden = hidden + self._out(attended)
        normed = self._hidden_norm(hidden)
        return hidden + self._down(F.silu(self._gate(normed)) * self._up(normed))


@dataclass(frozen=True, slots=True, kw_only=True)
class Turns:
    """Cosines and sines of rotary positions, each ``[tokens, 1, head_width]``, in single precision."""

    cosine: Tensor
    sine: Tensor

    @classmethod
    def table(cls, shape: DecoderShape, device: torch.device) -> Self:
        """Return those of every position of the context."""
        half = torch.arange(0, shape.head_width, 2, dtype=torch.float32, device=device) / shape.head_width
        positions = torch.arange(shape.context_length, dtype=torch.float32, device=device)
        angles = torch.outer(positions, 1.0 / shape.theta**half).repeat(1, 2)[:, None]
        return cls(cosine=angles.cos(), sine=angles.sin())

    def at(self, positions: Tensor) -> "Turns":
        """Return those of some positions."""
        return Turns(cosine=self.cosine[positions], sine=self.sine[positions])

    def turn(self, heads: Tensor) -> Tensor:
        """Turn ``[tokens, heads, head_width]``, whose halves make the pairs that are turned."""
        wide = heads.float()
        left, right = wide.chunk(2, dim=-1)
        return (wide * self.cosine + torch.cat((-right, left), dim=-1) * self.sine).to(heads.dtype)


class Decoder:
    """Embedding, layers and head.

    Args:
        shape: its sizes.
        names: of its tensors.
        read: returns them.
        precision: of the products of layers; by default what tensors are read in. Embedding and head stay as read.
    """

    def __init__(self, shape: DecoderShape, names: Names, read: ReadTensor, precision: Precision | None = None) -> None:
        self.shape = shape
        self._tokens = read(names.tokens)
        self.layers = [
            DecoderLayer(shape, names.layers, _within(read, names.layer.format(index)), precision)
            for index in range(shape.layers)
        ]
        self._norm = Norm(scale=read(names.norm), epsilon=shape.epsilon)
        self._head = Linear(self._tokens if names.head is None else read(names.head))
        self.turns = Turns.table(shape, self._tokens.device)

    @property
    def device(self) -> torch.device:
        """Where it runs."""
        return self._tokens.device

    @property
    def dtype(self) -> torch.dtype:
        """What it runs in."""
        return self._tokens.dtype

    def embed(self, tokens: Tensor) -> Tensor:
        """Return the embeddings ``[tokens, width]`` of ids."""
        return F.embedding(tokens, self._tokens)

    def logits(self, hidden: Tensor) -> Tensor:
        """Return logits ``[tokens, vocabulary]``."""
        return self._head(self._norm(hidden))


def _within(read: ReadTensor, prefix: str) -> ReadTensor:
    """Read tensors by the rest of their names."""
    return lambda name: read(prefix + name)
