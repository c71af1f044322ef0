"""What decoders of published families have in common, and where each keeps its weights."""

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class DecoderShape:
    """Sizes of a decoder with grouped-query attention, rotary positions and a gated feed-forward.

    Attributes:
        vocabulary: rows of embedding and head, those included that no token has.
        width: of the residual stream.
        layers: how many.
        heads: of queries.
        key_heads: of keys and values, of which each serves ``heads / key_heads`` heads of queries.
        head_width: of each head.
        hidden: width of the feed-forward.
        epsilon: added to mean squares.
        theta: base of the rotary rates.
        context_length: positions that the model is made for.
    """

    vocabulary: int
    width: int
    layers: int
    heads: int
    key_heads: int
    head_width: int
    hidden: int
    epsilon: float
    theta: float
    context_length: int

    @property
    def widths(self) -> tuple[int, ...]:
        """Widths that its layers' products have."""
        return self.width, self.heads * self.head_width, self.key_heads * self.head_width, self.hidden

    @property
    def kept(self) -> int:
        """Numbers that keys and values of one token and layer take."""
        return 2 * self.key_heads * self.head_width


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerNames:
    """Names of one layer's tensors, behind the layer's prefix; projections are named without ``.weight``.

    Attributes:
        query: and ``key``, ``value``, ``out``: of attention.
        gate: and ``up``, ``down``: of the feed-forward.
        attention_norm: before attention; ``hidden_norm`` before the feed-forward.
        query_norm: of each head's queries, and ``key_norm`` of its keys, where there are any.
        has_bias: whether queries, keys and values have biases.
    """

    query: str
    key: str
    value: str
    out: str
    gate: str
    up: str
    down: str
    attention_norm: str
    hidden_norm: str
    query_norm: str | None = None
    key_norm: str | None = None
    has_bias: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """Names of a decoder's tensors; ``layer`` is a layer's prefix with its number in braces.

    Without a ``head`` the embedding serves as one.
    """

    tokens: str
    layer: str
    norm: str
    head: str | None
    layers: LayerNames


def tensor_shapes(shape: DecoderShape, names: Names) -> dict[str, tuple[int, ...]]:
    """Return the size of every tensor of a checkpoint by its name."""
    shapes: dict[str, tuple[int, ...]] = {names.tokens: (shape.vocabulary, shape.width), names.norm: (shape.width,)}
    if names.head is not None:
        shapes[names.head] = (shape.vocabulary, shape.width)
    for index in range(shape.layers):
        prefix = names.layer.format(index)
        shapes |= {prefix + name: size for name, size in _layer_shapes(shape, names.layers)}
    return shapes


def layer_products(shape: DecoderShape, names: Names) -> tuple[tuple[int, int], ...]:
    """Return the size ``[out, in]`` of every matrix that a layer multiplies with."""
    return tuple((size[0], size[1]) for _, size in _layer_shapes(shape, names.layers) if len(size) > 1)


def _layer_shapes(shape: DecoderShape, names: LayerNames) -> Iterator[tuple[str, tuple[int, ...]]]:
    queries, keys = shape.heads * shape.head_width, shape.key_heads * shape.head_width
    for name, rows in ((names.query, queries), (names.key, keys), (names.value, keys)):
        yield f"{name}.weight", (rows, shape.width)
        if names.has_bias:
            yield f"{name}.bias", (rows,)
    yield f"{names.out}.weight", (shape.width, queries)
    yield f"{names.gate}.weight", (shape.hidden, shape.width)
    yield f"{names.up}.weight", (shape.hidden, shape.width)
    yield f"{names.down}.weight", (shape.width, shape.hidden)
    yield f"{names.attention_norm}.weight", (shape.width,)
    yield f"{names.hidden_norm}.weight", (shape.width,)
    for norm in (names.query_norm, names.key_norm):
        if norm is not None:
            yield f"{norm}.weight", (shape.head_width,)
