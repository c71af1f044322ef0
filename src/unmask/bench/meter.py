"""Counts what a forward does: seconds, and the floating-point operations the rows ask for."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from unmask.clock import Clock
from unmask.engine.network import Network
from unmask.engine.runner import RowRunner
from unmask.plan import CanvasTask, Row

PEAK_SIZE = 1024
PEAK_REPEATS = 12


@dataclass(slots=True, kw_only=True)
class Work:
    """Sums over forwards. Operations count what is asked for, never padding."""

    seconds: float = 0.0
    operations: float = 0.0
    calls: int = 0


class MeteredRunner:
    """A runner that keeps count."""

    def __init__(self, inner: RowRunner, network: Network, clock: Clock) -> None:
        self.work = Work()
        self._inner = inner
        self._network = network
        self._clock = clock

    def forward(self, rows: Sequence[Row]) -> Tensor:
        """Run the forward and book its time and operations."""
        started = self._clock.now()
        logits = self._inner.forward(rows)
        self.work.seconds += self._clock.now() - started
        self.work.operations += sum(row_operations(self._network, row) for row in rows)
        self.work.calls += 1
        return logits


def row_operations(network: Network, row: Row) -> float:
    """Return the operations of one row: two per weight and token, four per query, key and width in attention."""
    shape = network.shape
    appended = len(row.append)
    canvas = len(row.task.tokens) if isinstance(row.task, CanvasTask) else 0
    end = row.start + appended + canvas
    pairs = canvas * end + sum(range(row.start + 1, row.start + appended + 1))
    per_token = 4 * shape.width * shape.width + 2 * shape.width * shape.hidden
    wanted = canvas or (row.task is not None)
    linear = 2.0 * (appended + canvas) * shape.layers * per_token + 2.0 * wanted * shape.width * shape.vocabulary
    return linear + 4.0 * pairs * shape.width * shape.layers


def matmul_peak(clock: Clock) -> float:
    """Return the machine's single-precision matrix product rate now, in operations per second: the best of a few."""
    left = torch.randn(PEAK_SIZE, PEAK_SIZE)
    right = torch.randn(PEAK_SIZE, PEAK_SIZE)
    best = 0.0
    for _ in range(PEAK_REPEATS):
        started = clock.now()
        torch.mm(left, right)
        best = max(best, 2.0 * PEAK_SIZE**3 / (clock.now() - started))
    return best
