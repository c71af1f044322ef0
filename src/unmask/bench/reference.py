"""The forward of published sample code: plain torch, no cache, prompt and canvas in full at every step.

Its pages hold token ids instead of keys and values, so it runs under the same
scheduler and strategies as the engine and differs in nothing but the forward.
"""

from collections.abc import Sequence
from copy import deepcopy
from typing import cast

import torch
from torch import Tensor
from torch.nn import functional as F

from unmask.engine.network import Block, Network
from unmask.engine.precision import dtype_of
from unmask.plan import CanvasTask, Row
from unmask.types import Precision


class ReferenceRunner:
    """Runs each row alone, recomputing everything before it."""

    def __init__(
        self, network: Network, *, pages: int, page_size: int, precision: Precision = Precision.FLOAT32
    ) -> None:
        self.network = deepcopy(network).eval()
        # Weights alone: positions are turned by a table in single precision, in sample code too.
        for parameter in self.network.parameters():
            parameter.data = parameter.data.to(dtype_of(precision))
        self.page_size = page_size
        self._ids = [0] * (pages * page_size)

    @torch.inference_mode()
    def forward(self, rows: Sequence[Row]) -> Tensor:
        """Return logits of the asked canvas positions, or of the last appended one, row after row."""
        parts = [self._run(row) for row in rows if self._store(row)]
        return torch.cat(parts) if parts else torch.empty(0, self.network.shape.vocabulary)

    def _store(self, row: Row) -> bool:
        for place, token in enumerate(row.append, start=row.start):
            self._ids[row.pages[place // self.page_size] * self.page_size + place % self.page_size] = token
        return row.task is not None

    def _run(self, row: Row) -> Tensor:
        size = self.page_size
        length = row.start + len(row.append)
        context = [self._ids[row.pages[place // size] * size + place % size] for place in range(length)]
        canvas = row.task.tokens if isinstance(row.task, CanvasTask) else ()
        hidden = dense_hidden(self.network, torch.tensor([*context, *canvas]), len(canvas))
        # Sample code asks the model for the logits of every position and then takes what it needs.
        logits = self.network.logits(hidden).float()
        if isinstance(row.task, CanvasTask):
            return logits[length + torch.tensor(row.task.asked, dtype=torch.long)]
        return logits[-1:]


def dense_hidden(network: Network, tokens: Tensor, canvas: int) -> Tensor:
    """Return hidden states of one sequence whose last ``canvas`` tokens are an open canvas."""
    total = len(tokens)
    places = torch.arange(total)
    start = total - canvas
    mask = (places <= places.unsqueeze(-1)) | (places >= start).unsqueeze(-1)
    hidden = network.embed(tokens, torch.where(places >= start, places - start, -1))
    for module in network.blocks:
        block = cast("Block", module)
        query, key, value = (
            part.transpose(0, 1)[None] for part in block.project(hidden, network.cosine[:total], network.sine[:total])
        )
        attended = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=1.0)
        hidden = block.finish(hidden, attended[0].transpose(0, 1))
    return hidden
