"""What a canvas of a model without masks carries from step to step."""

from dataclasses import dataclass

import numpy as np
from torch import Tensor

from unmask.engine.signals import Ints

NOISE = 1
"""Keeps the tokens of noise apart from the numbers that tokens are drawn with, which have the same key without it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyCanvas:
    """A canvas before a step.

    Attributes:
        tokens: ids, ``[length]``, most of them noise at first.
        conditioning: what the step before expected, as embeddings ``[length, width]``; nothing before the first.
        earlier: likeliest tokens of the last steps, as many as are compared, the latest last.
    """

    tokens: Ints
    conditioning: Tensor | None = None
    earlier: tuple[Ints, ...] = ()


def noise(seed: int, canvas: int, step: int, length: int, vocabulary: int) -> Ints:
    """Return tokens drawn evenly, a pure function of seed, canvas and step.

    Args:
        seed: of the request.
        canvas: its number in the request, from 0.
        step: that reads them, from 0.
        length: how many.
        vocabulary: ids that they are drawn from.
    """
    key = np.random.SeedSequence([seed % 2**64, canvas + 1, step, NOISE])
    return np.random.Generator(np.random.Philox(key)).integers(vocabulary, size=length, dtype=np.int64)
