"""Lockstep as published sample code and synchronous servers run it: rows that wait or have ended are computed too.

An aligned batch is filled once and its rows wait for the slowest. Here they
also stay in the tensor meanwhile, for nothing.
"""

from collections.abc import Sequence
from dataclasses import replace

from torch import Tensor

from unmask.engine.runner import RowRunner
from unmask.plan import CanvasTask, Row


class LockstepRunner:
    """Runs rows, and beside them the canvases of the same batch that wait; counts those.

    For schedulers whose batches are aligned, prompts and canvases in rows of their own, and pages never shared: what
    is computed for nothing is written to pages whose sequence may have ended.
    """

    def __init__(self, inner: RowRunner) -> None:
        self.waiting_rows = 0
        self._inner = inner
        self._canvases: dict[int, Row] = {}

    def forward(self, rows: Sequence[Row]) -> Tensor:
        """Return the logits of ``rows``, computing those that wait after them."""
        if all(row.start == 0 for row in rows if row.append) and not any(
            isinstance(row.task, CanvasTask) for row in rows
        ):
            # A batch begins with its prompts, and nobody joins it later.
            self._canvases.clear()
        moving = {row.sequence: row for row in rows if isinstance(row.task, CanvasTask)}
        waiting = [row for number, row in self._canvases.items() if number not in moving] if moving else []
        self._canvases |= {
            number: replace(row, start=row.start + len(row.append), append=()) for number, row in moving.items()
        }
        self.waiting_rows += len(waiting)
        logits = self._inner.forward([*rows, *waiting])
        asked = sum(len(row.task.asked) for row in waiting if isinstance(row.task, CanvasTask))
        return logits[: len(logits) - asked]
