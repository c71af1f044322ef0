"""Runs rows over a decoder of a published family.

Pages hold the ids of the context. Where a block of positions sees only what stands before its end, they hold keys and
values too, and a row starts anew at the block in which its tokens begin: whatever of that block is committed already
could not see what stands there now. Where every position sees every other, each step runs the whole sequence, with the
masks that stand behind the canvas.

Attention runs row by row, so no row's peers or padding reach its logits.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from unmask.engine.families.decoder import Decoder
from unmask.engine.families.family import Pattern
from unmask.engine.kv_pages import KvPages
from unmask.plan import CanvasTask, Row


@dataclass(frozen=True, slots=True, kw_only=True)
class _Span:
    """A row's part of a forward.

    Attributes:
        tokens: ids that are run.
        first: position of the first of them.
        slots: of all positions up to the last, ``[first + tokens]``.
        asked: which of the tokens have the wanted logits.
        sees: which positions each token sees, ``[tokens, positions]``; ``None`` where it sees all.
    """

    tokens: Tensor
    first: int
    slots: Tensor
    asked: Tensor
    sees: Tensor | None

    @property
    def end(self) -> int:
        """Positions that it covers."""
        return self.first + len(self.tokens)


class FamilyRunner:
    """Keeps a decoder's pages; see `unmask.engine.runner.RowRunner`."""

    def __init__(self, decoder: Decoder, pattern: Pattern, *, mask: int, pages: int, page_size: int) -> None:
        shape = decoder.shape
        self._decoder, self._pattern, self._mask = decoder, pattern, mask
        self._page_size = page_size
        self._ids = torch.zeros(pages * page_size, dtype=torch.long)
        kept = 0 if pattern.block is None else pages * page_size
        size = (shape.layers, kept, 2, shape.key_heads, shape.head_width)
        self._pool = torch.zeros(size, dtype=decoder.dtype, device=decoder.device)

    @property
    def page_bytes(self) -> int:
        """Bytes of a page."""
        return self._ids[: self._page_size].nbytes + self._pool[:, : self._page_size].nbytes

    @property
    def kv(self) -> KvPages:
        """Its pages as bytes, with the ids of their tokens."""
        return KvPages(self._pool, self._page_size, self._ids)

    @torch.inference_mode()
    def forward(self, rows: Sequence[Row]) -> Tensor:
        """Return logits ``[asked, vocabulary]`` of canvases, row after row, in single precision on the processor."""
        spans = [span for row in rows if (span := self._span(row)) is not None]
        decoder = self._decoder
        if not spans:
            return torch.empty(0, decoder.shape.vocabulary)
        lengths = [len(span.tokens) for span in spans]
        starts = torch.tensor([0, *lengths[:-1]]).cumsum(0)
        asked = torch.cat([start + span.asked for start, span in zip(starts, spans, strict=True)])
        asked = asked.to(decoder.device)
        positions = torch.cat([torch.arange(span.first, span.end) for span in spans]).to(decoder.device)
        hidden = decoder.embed(torch.cat([span.tokens for span in spans]).to(decoder.device))
        turns = decoder.turns.at(positions)
        for index, layer in enumerate(decoder.layers):
            query, kept = layer.project(hidden, turns)
            parts = zip(spans, query.split(lengths), kept.split(lengths), strict=True)
            attended = torch.cat([self._attend(index, span, queries, own) for span, queries, own in parts])
            if index == len(decoder.layers) - 1:
                hidden, attended = hidden[asked], attended[asked]
            hidden = layer.finish(hidden, attended)
        return decoder.logits(hidden).float().cpu()

    def _attend(self, index: int, span: _Span, query: Tensor, kept: Tensor) -> Tensor:
        """Return what a row's queries ``[tokens, heads, head_width]`` find, ``[tokens, heads × head_width]``."""
        if self._pattern.block is not None:
            pool = self._pool[index]
            pool[span.slots[span.first :]] = kept
            kept = pool[span.slots]
        keys, values = kept.permute(1, 2, 0, 3)[:, None]
        found = F.scaled_dot_product_attention(
            query.transpose(0, 1)[None], keys, values, attn_mask=span.sees, enable_gqa=True
        )
        return found[0].transpose(0, 1).flatten(1)

    def _span(self, row: Row) -> _Span | None:
        """Lay out a row and keep the ids that it appends; nothing where there is nothing to run."""
        task = row.task
        assert task is None or isinstance(task, CanvasTask), "families run canvases alone"
        pages = torch.tensor(row.pages, dtype=torch.long)
        slots = (pages[:, None] * self._page_size + torch.arange(self._page_size)).flatten()
        committed = row.start + len(row.append)
        self._ids[slots[row.start : committed]] = torch.tensor(row.append, dtype=torch.long)
        block = self._pattern.block
        if task is None and block is None:
            return None
        first = 0 if block is None else row.start // block * block
        canvas: tuple[int, ...] = () if task is None else task.tokens
        ahead = 0 if task is None or block is not None else task.ahead
        behind = torch.tensor((*canvas, *(self._mask,) * ahead), dtype=torch.long)
        tokens = torch.cat((self._ids[slots[first:committed]], behind))
        asked = torch.tensor(() if task is None else task.asked, dtype=torch.long) + (committed - first)
        return _Span(
            tokens=tokens,
            first=first,
            slots=slots[: first + len(tokens)].to(self._decoder.device),
            asked=(asked - int(self._pattern.is_shifted)).clamp_min(0),
            sees=None if block is None else self._sight(first, first + len(tokens), block),
        )

    def _sight(self, first: int, end: int, block: int) -> Tensor | None:
        """Return which positions up to ``end`` each of those from ``first`` on sees: all up to its block's end."""
        limits = (torch.arange(first, end) // block + 1) * block
        if bool((limits >= end).all()):
            return None
        return (torch.arange(end) < limits[:, None]).to(self._decoder.device)
