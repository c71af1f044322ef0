"""Packs documents into dense micro-batches."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.text.tokenizer import Special
from unmask.train.document import Copy, Document, draw_copies
from unmask.train.lessons import task_order

AFTER_END_WEIGHT = 0.05
ROUND_LENGTH = 16
# Copies of each canvas length: shorter canvases are cheaper, so a document gets more of them.
COPIES = {8: 8, 16: 6, 32: 4}
# In the warm-up the appended tokens carry the lesson.
FEW_COPIES = {8: 2, 16: 1, 32: 1}

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    """Flat loss targets: ``rows`` index flattened hidden states; ``tasks`` index `task_order`."""

    rows: Ints
    tokens: Ints
    weights: Floats
    tasks: Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class MicroBatch:
    """Inputs of a dense pass and the targets on its text and on its canvases."""

    text: Ints
    canvases: Ints
    starts: Ints
    text_targets: Targets
    canvas_targets: Targets


class _Loss(NamedTuple):
    row: int
    token: int
    weight: float
    task: int


def pack(documents: Sequence[Document], copies: Sequence[Sequence[Copy]]) -> MicroBatch:
    """Lay out documents and their canvases, all of one length, in padded arrays."""
    length = -(-max(document.length for document in documents) // ROUND_LENGTH) * ROUND_LENGTH
    canvas = len(copies[0][0].target)
    text = np.full((len(documents), length), int(Special.END), dtype=np.int64)
    canvases = np.zeros((len(documents), len(copies[0]), canvas), dtype=np.int64)
    starts = np.zeros((len(documents), len(copies[0])), dtype=np.int64)
    text_loss: list[_Loss] = []
    canvas_loss: list[_Loss] = []
    for index, (document, drawn) in enumerate(zip(documents, copies, strict=True)):
        task = task_order().index(document.task)
        text[index, : document.length] = document.prompt + document.answer
        text_loss += _answer_loss(document, index * length, task)
        for number, copy in enumerate(drawn):
            starts[index, number] = len(document.prompt) + copy.start
            canvases[index, number] = np.where(copy.masked, int(Special.MASK), copy.target)
            canvas_loss += _copy_loss(copy, (index * len(drawn) + number) * canvas, task)
    return MicroBatch(
        text=text,
        canvases=canvases,
        starts=starts,
        text_targets=_targets(text_loss),
        canvas_targets=_targets(canvas_loss),
    )


def _answer_loss(document: Document, offset: int, task: int) -> Iterable[_Loss]:
    """Every answer token is predicted from the position before it."""
    first = offset + len(document.prompt) - 1
    return (
        _Loss(first + place, token, 1.0, task)
        for place, token in enumerate(document.answer)
        if place not in document.fixed
    )


def _copy_loss(copy: Copy, offset: int, task: int) -> Iterable[_Loss]:
    """Every masked token is predicted in its place; behind the end token it hardly counts."""
    end = copy.target.index(Special.END) if Special.END in copy.target else len(copy.target)
    return (
        _Loss(offset + place, token, AFTER_END_WEIGHT if place > end else 1.0, task)
        for place, (token, masked) in enumerate(zip(copy.target, copy.masked, strict=True))
        if masked
    )


def _targets(loss: list[_Loss]) -> Targets:
    return Targets(
        rows=np.array([target.row for target in loss], dtype=np.int64),
        tokens=np.array([target.token for target in loss], dtype=np.int64),
        weights=np.array([target.weight for target in loss], dtype=np.float32),
        tasks=np.array([target.task for target in loss], dtype=np.int64),
    )


def make_micro_batches(
    rng: Random,
    documents: Sequence[Document],
    weights: Mapping[int, float],
    tokens: int,
    copies: Mapping[int, int] = COPIES,
) -> list[MicroBatch]:
    """Group documents of like length, draw one canvas length a group, and pack at most ``tokens`` tokens each.

    ``weights`` and ``copies`` are by canvas length: how often it is drawn, how
    many canvases a document then gets.
    """
    ranked = sorted(documents, key=lambda document: -document.length)
    batches: list[MicroBatch] = []
    while ranked:
        canvas = rng.choices(list(weights), list(weights.values()))[0]
        count = max(1, tokens // (ranked[0].length + canvas * copies[canvas]))
        chosen, ranked = ranked[:count], ranked[count:]
        batches.append(pack(chosen, [draw_copies(rng, document, canvas, copies[canvas]) for document in chosen]))
    rng.shuffle(batches)
    return batches
