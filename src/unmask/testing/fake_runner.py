"""A forward without weights: it returns the logits a test writes down."""

from collections.abc import Sequence

import torch
from torch import Tensor

from unmask.plan import Row


class FakeRunner:
    """Returns logits in the order given, one matrix a forward, and remembers the rows it was given."""

    def __init__(self, *logits: Tensor) -> None:
        self.rows: list[tuple[Row, ...]] = []
        self._logits = iter(logits)

    def forward(self, rows: Sequence[Row]) -> Tensor:
        """Return the next logits."""
        self.rows.append(tuple(rows))
        return next(self._logits).clone()


def logits_for(tokens: Sequence[int], odds: Sequence[float], vocabulary: int) -> Tensor:
    """Return logits that prefer a token per position, each by its own log-odds against all others together."""
    logits = torch.zeros(len(tokens), vocabulary)
    logits[torch.arange(len(tokens)), list(tokens)] = torch.tensor(odds) + torch.tensor(vocabulary - 1.0).log()
    return logits
