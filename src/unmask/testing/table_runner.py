"""A forward without weights over a language in which each token says which one follows."""

from collections.abc import Collection, Sequence
from typing import assert_never

import torch
from torch import Tensor

from unmask.plan import CanvasTask, DecodeTask, Row, SpeculativeTask
from unmask.testing.fake_runner import logits_for

SURE, UNSURE = 5.0, -5.0


class TableRunner:
    """Draws the token that follows the last one; canvases of drafts guess the tokens after it, some of them wrongly.

    Args:
        following: per token the one that follows it.
        wrong: positions of the context at which a canvas guesses another token.
        unsure: those at which it is not sure of its guess.
    """

    def __init__(self, following: Sequence[int], *, wrong: Collection[int] = (), unsure: Collection[int] = ()) -> None:
        self.rows: list[Row] = []
        self._following = tuple(following)
        self._wrong = wrong
        self._unsure = unsure

    def forward(self, rows: Sequence[Row]) -> Tensor:
        """Return the logits that are asked for."""
        self.rows += rows
        return torch.cat([torch.zeros(0, len(self._following)), *map(self._logits, rows)])

    def _logits(self, row: Row) -> Tensor:
        match row.task:
            case None:
                return torch.zeros(0, len(self._following))
            case DecodeTask():
                return self._sure(row.append[-1:])
            case SpeculativeTask():
                known = row.append[len(row.append) - len(row.task.draft) - 1 :]
                return torch.cat((self._sure(known), self._guessed(row, len(row.task.tokens))))
            case CanvasTask():
                raise AssertionError("a language of single tokens has no canvases to denoise")
            case _:
                assert_never(row.task)

    def _sure(self, tokens: Sequence[int]) -> Tensor:
        size = len(self._following)
        return logits_for([self._following[token] for token in tokens], [SURE] * len(tokens), size)

    def _guessed(self, row: Row, length: int) -> Tensor:
        guesses, token, size = list[int](), row.append[-1], len(self._following)
        first = row.start + len(row.append)
        for place in range(first, first + length):
            token = self._following[token]
            guesses.append((token + 1) % size if place in self._wrong else token)
        odds = [UNSURE if place in self._unsure else SURE for place in range(first, first + length)]
        return logits_for(guesses, odds, size)
