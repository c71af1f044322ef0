"""Lockstep, for comparison: a batch is filled once, and every row waits for the slowest.

This is how published sample code and synchronous servers run a batch of
canvases: no canvas starts before all rows have finished the one before, and no
request joins before all have ended.
"""

from collections.abc import Collection

from unmask.sequence import Sequence


def due_in_lockstep(running: Collection[Sequence]) -> list[Sequence]:
    """Return the sequences furthest behind; the others wait for them."""
    behind = min((_stage(sequence) for sequence in running), default=0)
    return [sequence for sequence in running if _stage(sequence) == behind]


def _stage(sequence: Sequence) -> int:
    """Number the stages of a sequence: prompt, first canvas open, first canvas done, second open, and so on."""
    if sequence.pending and not sequence.output:
        return 0
    return 2 * sequence.canvases + (1 if sequence.canvas is None else 0)
