"""Runs rows over DiffusionGemma and its KV pages: what is appended first, then canvases, each in a pass of its own.

Keys and values come from the causal encoder alone, so those of committed tokens are exact, and prefixes may be shared.
On a processor every row is run by itself: its products would differ in their last bits with the rows beside it.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from unmask.engine.families.gemma.attention import Rows, Span
from unmask.engine.families.gemma.network import GemmaNetwork
from unmask.engine.renoising.canvas import NoisyCanvas
from unmask.plan import Row


class GemmaRunner:
    """Keeps a network's pages; see `unmask.engine.renoising.engine.NoisyRunner`."""

    def __init__(self, network: GemmaNetwork, *, pages: int, page_size: int) -> None:
        self._network, self._page_size = network, page_size
        slots = pages * page_size
        self._pool = tuple(
            torch.zeros(slots, 2, heads, width, dtype=network.dtype, device=network.device)
            for heads, width in network.kept
        )

    @property
    def page_bytes(self) -> int:
        """Bytes of a page."""
        return sum(layer[: self._page_size].nbytes for layer in self._pool)

    @torch.inference_mode()
    def forward(self, rows: Sequence[Row], canvases: Sequence[NoisyCanvas | None]) -> list[Tensor | None]:
        """Append what rows append, and return what their canvases come to; see `NoisyRunner`."""
        for batch in self._batches([place for place, row in enumerate(rows) if row.append]):
            self._append([rows[place] for place in batch])
        found: list[Tensor | None] = [None] * len(rows)
        for batch in self._batches([place for place, canvas in enumerate(canvases) if canvas is not None]):
            pairs = [(rows[place], canvas) for place in batch if (canvas := canvases[place]) is not None]
            for place, hidden in zip(batch, self._denoise(pairs), strict=True):
                found[place] = hidden
        return found

    def logits(self, hidden: Tensor) -> Tensor:
        """Return logits ``[length, vocabulary]`` of a canvas, in single precision, where it was computed."""
        return self._network.logits(hidden)

    def conditioning(self, logits: Tensor) -> Tensor:
        """Return the embeddings ``[length, width]`` that logits expect, for the next step."""
        return self._network.conditioning(logits)

    def _batches(self, places: list[int]) -> list[list[int]]:
        """Return which rows share a pass."""
        if self._network.device.type == "cpu":
            return [[place] for place in places]
        return [places] if places else []

    def _append(self, rows: Sequence[Row]) -> None:
        spans = tuple(self._span(row, start=row.start, count=len(row.append)) for row in rows)
        tokens = torch.tensor([token for row in rows for token in row.append], device=self._network.device)
        self._network.encode(tokens, self._positions(spans), Rows(spans=spans, pool=self._pool, appends=True))

    def _denoise(self, pairs: Sequence[tuple[Row, NoisyCanvas]]) -> Sequence[Tensor]:
        lengths = [len(canvas.tokens) for _, canvas in pairs]
        spans = tuple(
            self._span(row, start=row.start + len(row.append), count=count)
            for (row, _), count in zip(pairs, lengths, strict=True)
        )
        tokens = torch.cat([torch.from_numpy(canvas.tokens) for _, canvas in pairs]).to(self._network.device)
        conditioning = torch.cat(
            [
                self._network.no_conditioning(len(canvas.tokens))
                if canvas.conditioning is None
                else canvas.conditioning
                for _, canvas in pairs
            ]
        )
        rows = Rows(spans=spans, pool=self._pool, appends=False)
        hidden = self._network.decode(tokens, conditioning, self._positions(spans), rows)
        return torch.split(hidden, lengths)

    def _positions(self, spans: Sequence[Span]) -> Tensor:
        return torch.cat([torch.arange(span.start, span.start + span.count) for span in spans]).to(self._network.device)

    def _span(self, row: Row, *, start: int, count: int) -> Span:
        pages = torch.tensor(row.pages, dtype=torch.long)
        slots = (pages[:, None] * self._page_size + torch.arange(self._page_size)).flatten()
        committed = row.start + len(row.append)
        return Span(start=start, count=count, slots=slots[:committed].to(self._network.device))
