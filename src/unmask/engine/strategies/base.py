"""What a strategy sees and says."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from unmask.engine.signals import Flags, Ints, Needs, Signals


@dataclass(frozen=True, slots=True, kw_only=True)
class CanvasView:
    """A canvas before a step.

    Attributes:
        tokens: ids, the mask id where open, ``[length]``.
        open: positions that are masked.
        candidates: what a step may reveal: the leftmost open positions up to the draft's first end token, as many as
            the choice's window holds or the quota asks for.
        quota: an even share, for each step left, of what is open up to the draft's first end token, rounded up.
        frozen: positions that are never reopened.
        step: steps taken so far.
        steps_left: steps left, this one included; never 1: the engine fills the last step itself.
        horizon: how many positions matter: up to and including the draft's first end token, within the limit.
        end: id of the end token.
    """

    tokens: Ints
    open: Flags
    candidates: Flags
    quota: int
    frozen: Flags
    step: int
    steps_left: int
    horizon: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """Positions to reveal with the drawn token, positions to mask again, and what to remember."""

    revealed: Flags
    reopened: Flags | None = None
    state: object = None


class Strategy(Protocol):
    """Chooses positions; pure: all it remembers travels in ``state``, ``None`` at a canvas's first step."""

    @property
    def needs(self) -> Needs:
        """Signals beyond token and confidence that ``step`` reads."""
        ...

    def step(self, canvas: CanvasView, signals: Signals, state: object) -> Update:
        """Choose at least one candidate to reveal, so that every canvas ends."""
        ...


def most_confident(confidence: NDArray[np.floating[Any]], among: Flags, count: int) -> Flags:
    """Mark the ``count`` surest positions of ``among``, ties to the earlier position."""
    ranked = np.argsort(np.where(among, -confidence, np.inf), kind="stable")
    chosen = np.zeros_like(among)
    chosen[ranked[: min(count, int(among.sum()))]] = True
    return chosen
