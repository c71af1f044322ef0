"""Lockstep as it is compared with: rows that wait are computed for nothing."""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from unmask.bench.lockstep import LockstepRunner
from unmask.plan import CanvasTask, Row
from unmask.testing.canvas_tasks import make_canvas_task

MASK = 0


class Recorder:
    """Answers every asked position with its row's number, and remembers which rows it was given."""

    def __init__(self) -> None:
        self.seen: list[list[int]] = []

    def forward(self, rows: Sequence[Row]) -> Tensor:
        """Return a logit a position."""
        self.seen.append([row.sequence for row in rows])
        denoised = [row for row in rows if isinstance(row.task, CanvasTask)]
        asked = [torch.full((2, 1), float(row.sequence)) for row in denoised]
        return torch.cat(asked) if asked else torch.empty(0, 1)


def prompt(number: int) -> Row:
    """Return the row of a prompt."""
    return Row(sequence=number, start=0, append=(5, 6), pages=(number,), task=None)


def canvas(number: int) -> Row:
    """Return the row of a canvas of two masks."""
    return Row(sequence=number, start=2, append=(), pages=(number,), task=make_canvas_task([MASK] * 2))


def test_rows_that_wait_are_computed_and_ignored() -> None:
    """They come last, nothing of them is returned, and they are counted."""
    inner = Recorder()
    runner = LockstepRunner(inner)
    runner.forward([prompt(1), prompt(2)])
    runner.forward([canvas(1), canvas(2)])
    logits = runner.forward([canvas(2)])

    assert inner.seen == [[1, 2], [1, 2], [2, 1]]
    assert logits.flatten().tolist() == [2.0, 2.0]
    assert runner.waiting_rows == 1


def test_nobody_waits_while_prompts_are_appended() -> None:
    """A batch's prompts are computed alone, and those of the next batch end the one before."""
    inner = Recorder()
    runner = LockstepRunner(inner)
    runner.forward([prompt(1)])
    runner.forward([canvas(1)])
    runner.forward([prompt(2), prompt(3)])
    runner.forward([canvas(2), canvas(3)])
    runner.forward([canvas(3)])

    assert inner.seen[2:] == [[2, 3], [2, 3], [3, 2]]


def test_a_canvas_that_waits_has_what_it_appended_behind_it() -> None:
    """A finished canvas that was committed in the row of the next one is not committed again."""
    runner = LockstepRunner(Recorder())
    fused = replace(canvas(1), append=(7, 8))
    runner.forward([fused, canvas(2)])
    runner.forward([canvas(2)])

    assert runner._canvases[1].start == 4
    assert runner._canvases[1].append == ()
