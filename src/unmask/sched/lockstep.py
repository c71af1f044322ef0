"""Lockstep, for comparison: a batch is filled once, and every row waits for the slowest.

This is how published sample code and synchronous servers run a batch of
canvases: no canvas starts before all rows have finished the one before, no
request joins before all have ended, and the rows that wait or have ended stay
in the tensor and are computed for nothing.
"""

from collections.abc import Collection, Iterable
from dataclasses import replace

from unmask.plan import CanvasResult, CanvasTask, Row, RowResult
from unmask.sequence import Sequence


class Lockstep:
    """Holds the rows of one static batch."""

    def __init__(self) -> None:
        self._frozen: dict[int, Row] = {}

    def start_batch(self) -> None:
        """Forget the batch before."""
        self._frozen.clear()

    def due(self, running: Collection[Sequence]) -> list[Sequence]:
        """Return the sequences furthest behind; the others wait for them."""
        behind = min((_stage(sequence) for sequence in running), default=0)
        return [sequence for sequence in running if _stage(sequence) == behind]

    def idle_rows(self, rows: Iterable[Row]) -> tuple[Row, ...]:
        """Return the rows computed for nothing beside ``rows``: finished canvases of the batch, unless it prefills."""
        moving = {row.sequence for row in rows if row.task is not None}
        if not moving:
            return ()
        return tuple(row for number, row in self._frozen.items() if number not in moving)

    def observe(self, rows: Iterable[Row], results: Iterable[RowResult]) -> None:
        """Remember the canvases that a forward has finished."""
        for row, result in zip(rows, results, strict=True):
            if isinstance(result, CanvasResult) and result.finished and isinstance(row.task, CanvasTask):
                task = replace(
                    row.task,
                    tokens=result.tokens,
                    state=None,
                    trace=False,
                    top_logprobs=None,
                    signals=frozenset(),
                    exit=None,
                    earlier=None,
                )
                self._frozen[row.sequence] = replace(row, start=row.start + len(row.append), append=(), task=task)


def _stage(sequence: Sequence) -> int:
    """Number the stages of a sequence: prompt, first canvas open, first canvas done, second open, and so on."""
    if sequence.pending and not sequence.output:
        return 0
    return 2 * sequence.canvases + (1 if sequence.canvas is None else 0)
