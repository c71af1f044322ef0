"""One forward over rows of any kind: prefill chunks, canvases, commits fused with a next canvas, decode steps.

Tokens of all rows are one flat matrix, so nothing is padded outside attention.
Keys and values live in pages; a canvas writes its own where its tokens will be
committed, and writes them again every step. Attention runs over groups of rows
whose queries and keys round up to the same lengths. Those lengths depend on a
row alone, never on its peers: that, and products whose rows do not depend on
each other, is what makes a row's logits the same in any batch. The last layer
is finished only where logits are asked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple, Protocol, assert_never, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from unmask.engine.kv_pages import KvPages
from unmask.engine.layer import UNIT, Layer, to_unit, turn_table
from unmask.engine.matrix import Matrix
from unmask.engine.network import Block, Network
from unmask.engine.precision import dtype_of, row_step
from unmask.plan import CanvasTask, DecodeTask, Row, SpeculativeTask
from unmask.types import Precision

Ints = NDArray[np.int64]

# Fewer rows than these have other last bits, in attention and in products of MKL alike.
LEAST_TOKENS = 2
QUERY_LENGTHS = (LEAST_TOKENS, 8, 16, 32, 64, 96, 128, 160, 192, 256, 384, 512, 768, 1024)
# MKL, which attention runs on, sums over keys in blocks of 192, but over 256 or 320 in two halves: a token would
# differ in its last bits with the length of the chunk that it came in.
KEY_LENGTHS = (64, 96, 128, 160, 192, 384, 512, 640, 768, 1024)


def round_up(length: int, ladder: Sequence[int]) -> int:
    """Return the first rung that holds ``length``; past the last, a multiple of it."""
    for rung in ladder:
        if length <= rung:
            return rung
    return -(-length // ladder[-1]) * ladder[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Span:
    """A row's tokens: what they are, where they live, which are asked for logits.

    Attributes:
        row: the row.
        canvas: its canvas, empty where it has none.
        slots: of every position up to the row's end.
        asked: tokens of the row whose logits are wanted.
        rungs: rounded lengths of queries and keys.
    """

    row: Row
    canvas: tuple[int, ...]
    slots: Ints
    asked: Ints
    rungs: tuple[int, int]

    @classmethod
    def of(cls, row: Row, slots_of: Ints) -> "_Span":
        """Lay a row out; ``slots_of`` are the slots of every page."""
        appended = len(row.append)
        canvas: tuple[int, ...] = ()
        asked: Sequence[int] = ()
        match row.task:
            case CanvasTask():
                canvas = row.task.tokens
                asked = [appended + place for place in row.task.asked]
            case DecodeTask():
                asked = (appended - 1,)
            case SpeculativeTask():
                canvas = row.task.tokens
                asked = range(appended - len(row.task.draft) - 1, appended + len(canvas))
            case None:
                pass
            case _:
                assert_never(row.task)
        count = appended + len(canvas)
        end = row.start + count
        return cls(
            row=row,
            canvas=canvas,
            slots=slots_of[list(row.pages)].ravel()[:end],
            asked=np.array(asked, dtype=np.int64),
            rungs=(round_up(count, QUERY_LENGTHS), round_up(end, KEY_LENGTHS)),
        )

    @property
    def count(self) -> int:
        """How many tokens it runs."""
        return len(self.slots) - self.row.start

    @property
    def is_even(self) -> bool:
        """Whether none of its queries is padding."""
        return self.count == self.rungs[0]

    @property
    def is_causal(self) -> bool:
        """Whether some of its tokens see less than all there is: those that it appends, but for a last one."""
        return len(self.row.append) > 1 or bool(self.row.append and self.canvas)


class _Member(NamedTuple):
    """A row and its first token's place among all tokens."""

    span: _Span
    first: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    """Rows of one attention call.

    Attributes:
        rows: how many.
        slots: of their keys, ``[rows × keys]``.
        bias: hides keys, ``[rows, 1, queries, keys]``.
    """

    rows: int
    slots: Tensor
    bias: Tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layout:
    """A forward's tokens, row by row in the order of groups, and what goes where.

    Attributes:
        tokens: ids.
        positions: in their sequences.
        places: in their canvases, from 1; 0 elsewhere.
        slots: where their keys and values go.
        groups: of rows.
        sizes: queries of each group.
        asking: the token of each query of all groups, of padding a row's last one; ``None`` where each token is one
            query, in this order.
        answers: the query of each token; ``None`` in that case.
        asked: tokens whose logits are wanted.
        found: the queries of these.
        wanted: how many these are: others may follow, to fill products up.
    """

    tokens: Tensor
    positions: Tensor
    places: Tensor
    slots: Tensor
    groups: tuple[_Group, ...]
    sizes: list[int]
    asking: Tensor | None
    answers: Tensor | None
    asked: Tensor
    found: Tensor
    wanted: int


class RowRunner(Protocol):
    """Anything that turns rows into logits."""

    def forward(self, rows: Sequence[Row]) -> Tensor:
        """Return logits ``[asked, vocabulary]``, row after row.

        Of a canvas the asked positions, of decoding the last appended token; of speculation the token before the draft,
        the draft, and the canvas. Rows without a task contribute none.
        """
        ...


class Runner:
    """Runs rows over a network and its KV pages, on the processor.

    In bfloat16 the layers' products and attention are, and so are the pages; in whole numbers the products.
    The residual stream, norms, embeddings and logits stay in single precision.
    """

    def __init__(
        self, network: Network, *, pages: int, page_size: int, precision: Precision = Precision.FLOAT32
    ) -> None:
        shape = network.shape
        dtype = dtype_of(precision)
        self._row_step = row_step(precision)
        self.page_size = page_size
        # Of the network nothing else is kept: its layers' weights may be freed once they are laid out.
        self._tokens = network.tokens.weight.detach()
        # What is appended has no place in a canvas: it takes the first line.
        self._canvas = F.pad(network.canvas.weight.detach(), (0, 0, 1, 0))
        self._heads, self._head_width = shape.heads, shape.head_width
        self._layers = [Layer(cast("Block", block), precision) for block in network.blocks]
        self._head = Matrix(network.head.weight / UNIT)
        self._turns = turn_table(network.cosine, network.sine)
        # The last slot belongs to no page: padded keys are read from it.
        self._spare = pages * page_size
        # Keys and values side by side: one write and one read fetch both.
        self._pool = torch.zeros(shape.layers, self._spare + 1, 2 * shape.width, dtype=dtype)
        self._pools = self._pool.unbind()
        self._slots: Ints = np.arange(self._spare).reshape(pages, page_size)

    @property
    def weight_bytes(self) -> int:
        """Bytes of all weights as they are laid out."""
        return self._tokens.nbytes + self._canvas.nbytes + self._head.nbytes + sum(each.nbytes for each in self._layers)

    @property
    def page_bytes(self) -> int:
        """Bytes of a KV page."""
        return self._pool[:, : self.page_size].nbytes

    @property
    def kv(self) -> KvPages:
        """Its pages as bytes."""
        return KvPages(self._pool, self.page_size)

    def forward(self, rows: Sequence[Row]) -> Tensor:
        """Return logits ``[asked, vocabulary]``, row after row; see `RowRunner`. No weight of it has a gradient."""
        layout = self._lay_out(rows)
        embedded = self._tokens.index_select(0, layout.tokens).add_(self._canvas.index_select(0, layout.places))
        hidden = to_unit(embedded).div_(UNIT)
        turns = self._turns.index_select(0, layout.positions)
        for index, (layer, pool) in enumerate(zip(self._layers, self._pools, strict=True)):
            query, kept = layer.project(hidden, turns)
            pool.index_copy_(0, layout.slots, kept)
            attended = self._attend(query, pool, layout)
            if index == len(self._layers) - 1:
                hidden, attended = hidden.index_select(0, layout.asked), attended.index_select(0, layout.found)
            elif layout.answers is not None:
                attended = attended.index_select(0, layout.answers)
            hidden = layer.finish(hidden, attended)
        return self._head(to_unit(hidden))[: layout.wanted]

    def _attend(self, query: Tensor, pool: Tensor, layout: _Layout) -> Tensor:
        """Return what queries ``[tokens, width]`` find, group after group, ``[queries, width]``."""
        asking = query if layout.asking is None else query.index_select(0, layout.asking)
        found: list[Tensor] = []
        for group, part in zip(layout.groups, asking.split_with_sizes(layout.sizes), strict=True):
            kept = pool.index_select(0, group.slots).view(group.rows, -1, 2, self._heads, self._head_width)
            keys, values = kept.transpose(1, 3).unbind(2)
            queries = part.view(group.rows, -1, self._heads, self._head_width).transpose(1, 2)
            attended = F.scaled_dot_product_attention(queries, keys, values, attn_mask=group.bias, scale=1.0)
            found.append(attended.transpose(1, 2).reshape(part.shape))
        return found[0] if len(found) == 1 else torch.cat(found)

    def _lay_out(self, rows: Sequence[Row]) -> _Layout:
        spans = [_Span.of(row, self._slots) for row in rows]
        order = sorted(range(len(spans)), key=lambda index: spans[index].rungs)
        firsts = [0] * len(spans)
        count = 0
        for index in order:
            firsts[index] = count
            count += spans[index].count
        ranked = [_Member(spans[index], firsts[index]) for index in order]
        groups = [self._group(rungs, tuple(members)) for rungs, members in groupby(ranked, lambda one: one.span.rungs)]
        lines = self._lines(ranked, count)
        tokens, positions, places, slots, answers = torch.from_numpy(lines).unbind()
        wanted = sum(len(span.asked) for span in spans)
        asked = np.zeros(self._filled(wanted), dtype=np.int64)
        np.concatenate([first + span.asked for first, span in zip(firsts, spans, strict=True)], out=asked[:wanted])
        sizes = [group.rows * group.bias.shape[2] for group in groups]
        # What fills the forward up comes last, and may stand for the last row's padding.
        is_plain = sum(sizes) == lines.shape[1] and all(each.span.is_even for each in ranked[:-1])
        return _Layout(
            tokens=tokens,
            positions=positions,
            places=places,
            slots=slots,
            groups=tuple(groups),
            sizes=sizes,
            asking=None if is_plain else torch.from_numpy(_asking(ranked)),
            answers=None if is_plain else answers,
            asked=torch.from_numpy(asked),
            found=torch.from_numpy(asked if is_plain else lines[4].take(asked)),
            wanted=wanted,
        )

    def _filled(self, count: int) -> int:
        """Return how many rows products get for so many tokens."""
        step = self._row_step
        return max(count, LEAST_TOKENS) if count <= step else -(-count // step) * step

    def _lines(self, ranked: Sequence[_Member], count: int) -> Ints:
        """Return each token's id, position, place in its canvas, slot and query, ``[5, tokens]``."""
        lines = np.zeros((5, self._filled(count)), dtype=np.int64)
        tokens, positions, places, slots, answers = lines
        # What fills the forward up writes where padding is read.
        slots[count:] = self._spare
        queries = 0
        for span, first in ranked:
            opened, last = first + len(span.row.append), first + span.count
            tokens[first:opened], tokens[opened:last] = span.row.append, span.canvas
            positions[first:last] = np.arange(span.row.start, len(span.slots))
            places[opened:last] = np.arange(1, len(span.canvas) + 1)
            slots[first:last] = span.slots[span.row.start :]
            answers[first:last] = np.arange(queries, queries + span.count)
            queries += span.rungs[0]
        return lines

    def _group(self, rungs: tuple[int, int], members: Sequence[_Member]) -> _Group:
        queries, keys = rungs
        slots = np.full((len(members), keys), self._spare, dtype=np.int64)
        # Canvases see the same keys from every position: one line of the bias serves them all.
        lines = queries if any(span.is_causal for span, _ in members) else 1
        bias = np.zeros((len(members), 1, lines, keys), dtype=np.float32)
        for index, (span, _) in enumerate(members):
            end = len(span.slots)
            slots[index, :end] = span.slots
            bias[index, :, :, end:] = -np.inf
            if span.is_causal:
                appended = len(span.row.append)
                seen = np.arange(span.row.start, span.row.start + appended)[:, None]
                bias[index, 0, :appended][np.arange(keys) > seen] = -np.inf
        return _Group(
            rows=len(members),
            slots=torch.from_numpy(slots.ravel()),
            bias=torch.from_numpy(bias).expand(-1, -1, queries, -1),
        )


def _asking(ranked: Sequence[_Member]) -> Ints:
    """Return the token of each query of all groups."""
    return np.concatenate([first + np.minimum(np.arange(span.rungs[0]), span.count - 1) for span, first in ranked])
