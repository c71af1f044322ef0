"""Counts what a forward does: seconds, and the floating-point operations the rows ask for."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from unmask.clock import Clock
from unmask.engine.matrix import Matrix
from unmask.engine.network import Network
from unmask.engine.precision import dtype_of
from unmask.engine.runner import RowRunner
from unmask.plan import CanvasTask, Row
from unmask.types import Precision

PEAK_SIZE = 1024
PEAK_REPEATS = 8


@dataclass(slots=True, kw_only=True)
class Work:
    """Sums over forwards. Operations count what is asked for, never padding."""

    seconds: float = 0.0
    operations: float = 0.0


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
        return logits


def row_operations(network: Network, row: Row) -> float:
    """Return the operations of one row: two per weight and token, four per query, key and width in attention.

    The last layer is finished, and logits are made, only where they are asked for.
    """
    shape = network.shape
    appended = len(row.append)
    canvas = len(row.task.tokens) if isinstance(row.task, CanvasTask) else 0
    asked = len(row.task.asked) if isinstance(row.task, CanvasTask) else int(row.task is not None)
    tokens, end = appended + canvas, row.start + appended + canvas
    projecting = 6.0 * shape.width**2
    finishing = 2.0 * shape.width**2 + 4.0 * shape.width * shape.hidden
    seen = canvas * end + appended * (2 * row.start + appended + 1) / 2
    earlier = (shape.layers - 1) * (tokens * (projecting + finishing) + 4.0 * seen * shape.width)
    last = tokens * projecting + asked * (finishing + 4.0 * end * shape.width + 2.0 * shape.width * shape.vocabulary)
    return earlier + last


def matmul_peak(clock: Clock, precision: Precision) -> float:
    """Return the machine's matrix product rate now, in operations per second: the best of a few, by any kernel."""
    values, weight = torch.randn(2, PEAK_SIZE, PEAK_SIZE).to(dtype_of(precision))
    best = 0.0
    for multiply in (partial(torch.mm, mat2=weight.T), Matrix(weight), Matrix(weight, prefers_onednn=True)):
        for _ in range(PEAK_REPEATS):
            started = clock.now()
            multiply(values)
            best = max(best, 2.0 * PEAK_SIZE**3 / (clock.now() - started))
    return best
