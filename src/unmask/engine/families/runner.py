"""Runs rows over a decoder of a published family.

Pages hold the ids of the context. Where a block of positions sees only what stands before its end, they hold keys and
values too, and a row starts anew at the block in which its tokens begin: whatever of that block is committed already
could not see what stands there now. Where every position sees every other, each step runs the whole sequence, with the
masks that stand behind the canvas. There an approximate cache may keep keys and values of a canvas's first step for
those that follow, which then run the canvas, and with ``prefix`` the masks behind it, against what the pages hold.
Which steps compute all anew depends on the step alone, and nothing outlives a canvas or leaves its sequence.

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
from unmask.types import ApproximateCache, ApproximateKv


@dataclass(frozen=True, slots=True, kw_only=True)
class _Span:
    """A row's part of a forward.

    Attributes:
        tokens: ids that are run.
        first: position of the first of them.
        slots: of all positions that they see, ``[positions]``; those of the tokens themselves begin at ``first``.
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
        """Position behind its last token."""
        return self.first + len(self.tokens)


class FamilyRunner:
    """Keeps a decoder's pages; see `unmask.engine.runner.RowRunner`.

    Attributes:
        forwarded: tokens that it has run, those included that rows do not bring: context, and masks behind canvases.
    """

    def __init__(
        self,
        decoder: Decoder,
        pattern: Pattern,
        *,
        mask: int,
        pages: int,
        page_size: int,
        approximate: ApproximateKv = ApproximateKv(),
    ) -> None:
        assert pattern.block is None or not approximate.is_on, "blocks keep theirs exactly"
        shape = decoder.shape
        self._decoder, self._pattern, self._mask = decoder, pattern, mask
        self._approximate, self._keeps = approximate, keeps_kv(pattern, approximate)
        self._page_size = page_size
        self.forwarded = 0
        self._ids = torch.zeros(pages * page_size, dtype=torch.long)
        kept = pages * page_size if self._keeps else 0
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
        self.forwarded += sum(lengths)
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
        if self._keeps:
            pool = self._pool[index]
            pool[span.slots[span.first : span.end]] = kept
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
        if block is None:
            return None if task is None else self._whole(task, slots, committed)
        first = row.start // block * block
        canvas = torch.tensor(() if task is None else task.tokens, dtype=torch.long)
        tokens = torch.cat((self._ids[slots[first:committed]], canvas))
        end = first + len(tokens)
        return _Span(
            tokens=tokens,
            first=first,
            slots=slots[:end].to(self._decoder.device),
            asked=self._asked(() if task is None else task.asked, committed - first),
            sees=self._sight(first, end, block),
        )

    def _whole(self, task: CanvasTask, slots: Tensor, committed: int) -> _Span:
        """Lay out a canvas of which all positions see all, from the prompt to the last mask behind it."""
        is_fresh = self._approximate.is_fresh(task.step)
        # Where a position is told by the logits of the one before it, the canvas's first needs the last of the context.
        first = 0 if is_fresh else max(0, committed - int(self._pattern.is_shifted))
        runs_ahead = is_fresh or self._approximate.cache is ApproximateCache.PREFIX
        behind = (*task.tokens, *(self._mask,) * (task.ahead if runs_ahead else 0))
        end = committed + len(task.tokens) + task.ahead
        return _Span(
            tokens=torch.cat((self._ids[slots[first:committed]], torch.tensor(behind, dtype=torch.long))),
            first=first,
            slots=slots[:end].to(self._decoder.device),
            asked=self._asked(task.asked, committed - first),
            sees=None,
        )

    def _asked(self, places: Sequence[int], canvas: int) -> Tensor:
        """Return which tokens of a span tell places of the canvas that begins at its token ``canvas``."""
        asked = torch.tensor(places, dtype=torch.long) + (canvas - int(self._pattern.is_shifted))
        return asked.clamp_min(0)

    def _sight(self, first: int, end: int, block: int) -> Tensor | None:
        """Return which positions up to ``end`` each of those from ``first`` on sees: all up to its block's end."""
        limits = (torch.arange(first, end) // block + 1) * block
        if bool((limits >= end).all()):
            return None
        return (torch.arange(end) < limits[:, None]).to(self._decoder.device)


def keeps_kv(pattern: Pattern, approximate: ApproximateKv) -> bool:
    """Tell whether pages hold keys and values, beside ids."""
    return pattern.block is not None or approximate.is_on
