"""Remasking by confidence at reveal (after Wang et al. 2025, ReMDM-conf, arXiv 2503.00307)."""

from dataclasses import dataclass
from typing import cast

import numpy as np

from unmask.engine.signals import Flags, Floats, Needs, Signals
from unmask.engine.strategies.base import CanvasView, Update
from unmask.engine.strategies.low_confidence import LowConfidence


@dataclass(frozen=True, slots=True, kw_only=True)
class RemaskState:
    """Probability of each position when it was revealed, and whether it was reopened before."""

    probability: Floats
    reopened: Flags


@dataclass(frozen=True, slots=True, kw_only=True)
class Remask:
    """Low-confidence quotas; the least sure revealed token is masked again, each position once at most.

    A step reopens the revealed position whose probability at reveal was lowest,
    where that is ``<`` the threshold; the paper draws positions at random in
    proportion, here the choice is fixed so that seeds reproduce. The next
    steps' quotas count the reopened position, so progress stays forced and the
    budget hard.
    """

    threshold: float = 0.7
    needs: Needs = Needs()

    def step(self, canvas: CanvasView, signals: Signals, state: object) -> Update:
        """Reveal the quota and reopen at most one earlier choice."""
        never = np.zeros_like(canvas.open)
        memory = cast("RemaskState | None", state) or RemaskState(
            probability=np.ones(len(canvas.open), dtype=np.float32), reopened=never
        )
        revealed = LowConfidence().step(canvas, signals, None).revealed
        eligible = ~canvas.open & ~canvas.frozen & ~memory.reopened & (memory.probability < self.threshold)
        reopened = never.copy()
        if eligible.any():
            # Rounded, so that the last bits of a forward do not choose; of two alike the earlier goes.
            reopened[np.argmin(np.where(eligible, memory.probability.round(4), np.inf))] = True
        return Update(
            revealed=revealed,
            reopened=reopened,
            state=RemaskState(
                probability=np.where(revealed, signals.probability, memory.probability),
                reopened=memory.reopened | reopened,
            ),
        )
