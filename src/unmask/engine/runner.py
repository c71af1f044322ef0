"""One forward over rows of any kind: prefill chunks, canvases, commits fused with a next canvas, decode steps.

Tokens of all rows are one flat matrix, so nothing is padded outside attention.
Keys and values live in pages; a canvas writes its own where its tokens will be
committed, and writes them again every step. Attention runs over groups of rows
whose queries and keys round up to the same lengths. Those lengths depend on a
row alone, never on its peers: that, and a floor on the number of rows of a
matrix product, is what makes a row's logits the same in any batch.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, cast

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from unmask.engine.network import Block, Network
from unmask.plan import CanvasTask, Row

# Matrix products of fewer rows take other kernels, whose last bits differ.
MIN_TOKENS = 8
QUERY_LENGTHS = (8, 16, 32, 64, 96, 128, 160, 192, 256, 384, 512, 768, 1024)
KEY_LENGTHS = (64, 128, 192, 256, 320, 384, 512, 640, 768, 1024)


def round_up(length: int, ladder: Sequence[int]) -> int:
    """Return the first rung that holds ``length``; past the last, a multiple of it."""
    for rung in ladder:
        if length <= rung:
            return rung
    return -(-length // ladder[-1]) * ladder[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    """Rows of one attention call: which tokens ask, which slots hold keys, what is hidden."""

    queries: Tensor
    slots: Tensor
    bias: Tensor
    sources: Tensor
    targets: Tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layout:
    tokens: Tensor
    positions: Tensor
    canvas_positions: Tensor
    slots: Tensor
    groups: tuple[_Group, ...]
    wanted: Tensor


class RowRunner(Protocol):
    """Anything that turns rows into logits."""

    def forward(self, rows: Sequence[Row]) -> Tensor:
        """Return logits ``[wanted, vocabulary]``: every canvas position, or the last appended one, row after row.

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
        self._keys = torch.zeros(shape.layers, self._spare + 1, shape.heads, shape.head_width)
        self._values = torch.zeros_like(self._keys)

    @torch.inference_mode()
    def forward(self, rows: Sequence[Row]) -> Tensor:
        """Return logits ``[wanted, vocabulary]``: every canvas position, or the last appended one, row after row.

        Rows without a task contribute none.
        """
        layout = self._lay_out(rows)
        network = self.network
        hidden = network.embed(layout.tokens, layout.canvas_positions)
        cosine, sine = network.cosine[layout.positions], network.sine[layout.positions]
        for index, module in enumerate(network.blocks):
            block = cast("Block", module)
            query, key, value = block.project(hidden, cosine, sine)
            self._keys[index].index_copy_(0, layout.slots, key)
            self._values[index].index_copy_(0, layout.slots, value)
            hidden = block.finish(hidden, self._attend(index, query, layout.groups))
        count = len(layout.wanted)
        wanted = F.pad(layout.wanted, (0, max(0, MIN_TOKENS - count)))
        return network.logits(hidden[wanted])[:count]

    def _attend(self, layer: int, query: Tensor, groups: tuple[_Group, ...]) -> Tensor:
        attended = torch.zeros_like(query)
        for group in groups:
            asked = query[group.queries].transpose(1, 2)
            keys = self._keys[layer][group.slots].permute(0, 2, 3, 1)
            values = self._values[layer][group.slots].transpose(1, 2)
            weights = (asked @ keys + group.bias).softmax(-1)
            answer = (weights @ values).transpose(1, 2).flatten(0, 1)
            attended[group.targets] = answer[group.sources]
        return attended

    def _lay_out(self, rows: Sequence[Row]) -> _Layout:
        tokens: list[int] = []
        positions: list[int] = []
        canvas_positions: list[int] = []
        slots: list[int] = []
        wanted: list[int] = []
        members: dict[tuple[int, int], list[tuple[Row, int, int]]] = {}
        for row in rows:
            first = len(tokens)
            canvas = row.task.tokens if isinstance(row.task, CanvasTask) else ()
            count = len(row.append) + len(canvas)
            tokens += (*row.append, *canvas)
            positions += range(row.start, row.start + count)
            canvas_positions += (-1,) * len(row.append)
            canvas_positions += range(len(canvas))
            slots += self._slots(row, row.start, row.start + count)
            if canvas:
                wanted += range(first + len(row.append), first + count)
            elif row.task is not None:
                wanted.append(first + count - 1)
            key = round_up(count, QUERY_LENGTHS), round_up(row.start + count, KEY_LENGTHS)
            members.setdefault(key, []).append((row, first, count))
        missing = max(0, MIN_TOKENS - len(tokens))
        return _Layout(
            tokens=torch.tensor(tokens + [0] * missing),
            positions=torch.tensor(positions + [0] * missing),
            canvas_positions=torch.tensor(canvas_positions + [-1] * missing),
            slots=torch.tensor(slots + [self._spare] * missing),
            groups=tuple(self._group(key, group) for key, group in members.items()),
            wanted=torch.tensor(wanted, dtype=torch.long),
        )

    def _slots(self, row: Row, first: int, last: int) -> list[int]:
        size = self.page_size
        return [row.pages[place // size] * size + place % size for place in range(first, last)]

    def _group(self, key: tuple[int, int], members: list[tuple[Row, int, int]]) -> _Group:
        query_length, key_length = key
        queries = np.zeros((len(members), query_length), dtype=np.int64)
        slots = np.full((len(members), key_length), self._spare, dtype=np.int64)
        limits = np.ones((len(members), query_length), dtype=np.int64)
        sources: list[int] = []
        targets: list[int] = []
        for index, (row, first, count) in enumerate(members):
            end = row.start + count
            queries[index, :count] = range(first, first + count)
            slots[index, :end] = self._slots(row, 0, end)
            appended = len(row.append)
            limits[index, :appended] = range(row.start + 1, row.start + appended + 1)
            limits[index, appended:count] = end
            sources += range(index * query_length, index * query_length + count)
            targets += range(first, first + count)
        hidden = np.arange(key_length) >= limits[:, None, :, None]
        bias = torch.zeros(hidden.shape).masked_fill_(torch.from_numpy(hidden), float("-inf"))
        return _Group(
            queries=torch.from_numpy(queries),
            slots=torch.from_numpy(slots),
            bias=bias,
            sources=torch.tensor(sources),
            targets=torch.tensor(targets),
        )
