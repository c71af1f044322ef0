"""One forward over rows of any kind: prefill chunks, canvases, commits fused with a next canvas, decode steps.

Tokens of all rows are one flat matrix, so nothing is padded outside attention.
Keys and values live in pages; a canvas writes its own where its tokens will be
committed, and writes them again every step. Attention runs over groups of rows
whose queries and keys round up to the same lengths. Those lengths depend on a
row alone, never on its peers: that, and a floor on the number of rows of a
matrix product, is what makes a row's logits the same in any batch. The last
layer is finished only where logits are asked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, assert_never, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from unmask.engine.network import Block, Network
from unmask.plan import CanvasTask, DecodeTask, Row

Ints = NDArray[np.int64]

# Matrix products of fewer rows take other kernels, whose last bits differ.
MIN_TOKENS = 8
QUERY_LENGTHS = (8, 16, 32, 64, 96, 128, 160, 192, 256, 384, 512, 768, 1024)
KEY_LENGTHS = (64, 96, 128, 160, 192, 256, 320, 384, 512, 640, 768, 1024)


def round_up(length: int, ladder: Sequence[int]) -> int:
    """Return the first rung that holds ``length``; past the last, a multiple of it."""
    for rung in ladder:
        if length <= rung:
            return rung
    return -(-length // ladder[-1]) * ladder[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Span:
    """A row's tokens: what they are, where they live, which keys each may see, which are asked for logits.

    Attributes:
        row: the row.
        canvas: its canvas, empty where it has none.
        slots: of every position up to the row's end.
        limits: per token, how many positions it sees.
        asked: tokens of the row whose logits are wanted.
        rungs: rounded lengths of queries and keys.
    """

    row: Row
    canvas: tuple[int, ...]
    slots: Ints
    limits: Ints
    asked: Ints
    rungs: tuple[int, int]

    @classmethod
    def of(cls, row: Row, page_size: int) -> "_Span":
        appended = len(row.append)
        canvas: tuple[int, ...] = ()
        asked: Sequence[int] = ()
        match row.task:
            case CanvasTask():
                canvas = row.task.tokens
                asked = [appended + place for place in row.task.asked]
            case DecodeTask():
                asked = (appended - 1,)
            case None:
                pass
            case _:
                assert_never(row.task)
        count = appended + len(canvas)
        end = row.start + count
        limits = np.full(count, end, dtype=np.int64)
        limits[:appended] = np.arange(row.start + 1, row.start + appended + 1)
        pages = np.array(row.pages, dtype=np.int64)
        return cls(
            row=row,
            canvas=canvas,
            slots=(pages[:, None] * page_size + np.arange(page_size)).ravel()[:end],
            limits=limits,
            asked=np.array(asked, dtype=np.int64),
            rungs=(round_up(count, QUERY_LENGTHS), round_up(end, KEY_LENGTHS)),
        )


class _Member(NamedTuple):
    """A row in a group: its first query's place among the tokens, and how many keys each query sees."""

    span: _Span
    first: int
    limits: Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    """Rows of one attention call: which tokens ask, which slots hold keys, what is hidden.

    ``queries`` is ``[rows, queries]``; where ``real`` is false it is padding,
    and without ``real`` it is an unbroken run of tokens.
    """

    slots: Tensor
    bias: Tensor
    queries: Tensor
    real: Tensor | None

    def gather(self, tokens: Tensor) -> Tensor:
        """Return ``[rows, queries, ...]`` of flat tokens."""
        return tokens[self.queries] if self.real is not None else self._slice(tokens)

    def scatter(self, values: Tensor, tokens: Tensor) -> None:
        """Write ``[rows, queries, ...]`` into flat tokens."""
        if self.real is None:
            self._slice(tokens).copy_(values)
        else:
            tokens[self.queries[self.real]] = values[self.real]

    def _slice(self, tokens: Tensor) -> Tensor:
        start = int(self.queries[0, 0])
        return tokens[start : start + self.queries.numel()].view(*self.queries.shape, *tokens.shape[1:])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layout:
    tokens: Tensor
    positions: Tensor
    canvas_positions: Tensor
    slots: Tensor
    groups: tuple[_Group, ...]
    asked: Tensor
    asked_groups: tuple[_Group, ...]
    count: int


class RowRunner(Protocol):
    """Anything that turns rows into logits."""

    def forward(self, rows: Sequence[Row]) -> Tensor:
        """Return logits ``[asked, vocabulary]``: the asked canvas positions, or the last appended one, row after row.

        Rows without a task contribute none.
        """
        ...


class Runner:
    """Runs rows over a network and its KV pages, on the processor."""

    def __init__(self, network: Network, *, pages: int, page_size: int) -> None:
        shape = network.shape
        self.network = network.eval()
        self.page_size = page_size
        # The last slot belongs to no page: padding reads and writes it, and nobody else sees it.
        self._spare = pages * page_size
        # Keys and values side by side: one write and one read fetch both.
        self._pool = torch.zeros(shape.layers, self._spare + 1, 2, shape.heads, shape.head_width)

    @torch.inference_mode()
    def forward(self, rows: Sequence[Row]) -> Tensor:
        """Return logits ``[asked, vocabulary]``: the asked canvas positions, or the last appended one, row after row.

        Rows without a task contribute none.
        """
        layout = self._lay_out(rows)
        network = self.network
        hidden = network.embed(layout.tokens, layout.canvas_positions)
        cosine, sine = network.cosine[layout.positions], network.sine[layout.positions]
        last = len(network.blocks) - 1
        for index, module in enumerate(network.blocks):
            block = cast("Block", module)
            query, key, value = block.project(hidden, cosine, sine)
            self._pool[index].index_copy_(0, layout.slots, torch.stack((key, value), 1))
            if index < last:
                hidden = block.finish(hidden, self._attend(index, query, layout.groups))
            else:
                query, hidden = query[layout.asked], hidden[layout.asked]
                hidden = block.finish(hidden, self._attend(index, query, layout.asked_groups))
        return network.logits(hidden)[: layout.count]

    def _attend(self, layer: int, query: Tensor, groups: tuple[_Group, ...]) -> Tensor:
        attended = torch.zeros_like(query)
        for group in groups:
            keys, values = self._pool[layer][group.slots].transpose(1, 3).unbind(2)
            asked = group.gather(query).transpose(1, 2)
            found = F.scaled_dot_product_attention(asked, keys, values, attn_mask=group.bias, scale=1.0)
            group.scatter(found.transpose(1, 2), attended)
        return attended

    def _lay_out(self, rows: Sequence[Row]) -> _Layout:
        spans = [_Span.of(row, self.page_size) for row in rows]
        # Rows of a group lie side by side, so that a full group is a slice of the tokens.
        order = sorted(range(len(spans)), key=lambda index: spans[index].rungs)
        firsts = [0] * len(spans)
        count = 0
        for index in order:
            firsts[index] = count
            count += len(spans[index].limits)
        ranked = [spans[index] for index in order]
        missing = max(0, MIN_TOKENS - count)
        asked = np.concatenate([firsts[index] + span.asked for index, span in enumerate(spans)])
        return _Layout(
            tokens=_flat([(*span.row.append, *span.canvas) for span in ranked], missing, 0),
            positions=_flat([np.arange(span.row.start, len(span.slots)) for span in ranked], missing, 0),
            canvas_positions=_flat(
                [(*(-1 for _ in span.row.append), *range(len(span.canvas))) for span in ranked], missing, -1
            ),
            slots=_flat([span.slots[span.row.start :] for span in ranked], missing, self._spare),
            groups=self._groups([_Member(spans[index], firsts[index], spans[index].limits) for index in order]),
            asked=_flat([asked], max(0, MIN_TOKENS - len(asked)), 0),
            asked_groups=self._groups(_asked_members(spans)),
            count=len(asked),
        )

    def _groups(self, members: Sequence[_Member]) -> tuple[_Group, ...]:
        """Group members by rounded lengths."""
        groups: dict[tuple[int, int], list[_Member]] = {}
        for member in members:
            rungs = round_up(len(member.limits), QUERY_LENGTHS), member.span.rungs[1]
            groups.setdefault(rungs, []).append(member)
        return tuple(self._group(*lengths, group) for lengths, group in groups.items())

    def _group(self, query_length: int, key_length: int, members: Sequence[_Member]) -> _Group:
        slots = np.full((len(members), key_length), self._spare, dtype=np.int64)
        limits = np.ones((len(members), query_length), dtype=np.int64)
        queries = np.zeros((len(members), query_length), dtype=np.int64)
        real = np.zeros((len(members), query_length), dtype=np.bool_)
        for index, (span, first, seen) in enumerate(members):
            count = len(seen)
            slots[index, : len(span.slots)] = span.slots
            limits[index, :count] = seen
            queries[index, :count] = np.arange(first, first + count)
            real[index, :count] = True
        # Canvases see the same keys from every position: one line of the bias serves them all.
        lines = limits if (limits != limits[:, :1]).any() else limits[:, :1]
        hidden = torch.from_numpy(np.arange(key_length) >= lines[:, None, :, None])
        bias = torch.zeros(hidden.shape).masked_fill_(hidden, float("-inf")).expand(-1, -1, query_length, -1)
        start = int(queries[0, 0])
        is_slice = bool(real.all()) and bool((queries.ravel() == np.arange(start, start + queries.size)).all())
        return _Group(
            slots=torch.from_numpy(slots),
            bias=bias,
            queries=torch.from_numpy(queries),
            real=None if is_slice else torch.from_numpy(real),
        )


def _flat(parts: Sequence[Ints | Sequence[int]], missing: int, fill: int) -> Tensor:
    """Join parts and pad them with ``missing`` times ``fill``."""
    joined = np.concatenate([*(np.asarray(part, dtype=np.int64) for part in parts), np.full(missing, fill)])
    return torch.from_numpy(joined)


def _asked_members(spans: Sequence[_Span]) -> list[_Member]:
    """Return the queries of the last layer: only what is asked for, row after row."""
    members: list[_Member] = []
    first = 0
    for span in spans:
        if len(span.asked):
            members.append(_Member(span, first, span.limits[span.asked]))
            first += len(span.asked)
    return members
