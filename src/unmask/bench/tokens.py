"""Counts the tokens that forwards compute."""

from collections.abc import Sequence

from torch import Tensor

from unmask.engine.runner import RowRunner
from unmask.plan import Row


class TokenCounter:
    """A runner that counts the tokens it is given."""

    def __init__(self, inner: RowRunner) -> None:
        self.tokens = 0
        self._inner = inner

    def forward(self, rows: Sequence[Row]) -> Tensor:
        """Run the forward."""
        self.tokens += sum(row.tokens for row in rows)
        return self._inner.forward(rows)
