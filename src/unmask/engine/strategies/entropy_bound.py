"""Entropy-bounded unmasking (Ben-Hamu et al. 2025, EB-Sampler, arXiv 2505.24857)."""

from dataclasses import dataclass

import numpy as np

from unmask.engine.signals import Needs, Signals
from unmask.engine.strategies.base import CanvasView, Update

# Entropies are summed as whole numbers of a ten-thousandth nat, so that no last bit decides.
RESOLUTION = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class EntropyBound:
    """Each step reveals the longest run of candidates, surest first, whose joint error stays bounded.

    The bound compares ``<=``: sum of the run's entropies less its largest, in
    nats, against the threshold. A run of one is always within it, which is the
    forced progress.
    """

    threshold: float = 0.1
    needs: Needs = Needs(entropy=True)

    def step(self, canvas: CanvasView, signals: Signals, state: object) -> Update:
        """Reveal the run."""
        assert signals.entropy is not None, "asked for in `needs`"
        rounded = np.round(signals.entropy.astype(np.float64) * RESOLUTION)
        ranked = np.argsort(np.where(canvas.candidates, rounded, np.inf), kind="stable")
        ranked = ranked[: int(canvas.candidates.sum())]
        # In ascending order the largest entropy of a run is its last, so the bound is the sum before it.
        before = np.concatenate(([0.0], np.cumsum(rounded[ranked])[:-1]))
        revealed = np.zeros_like(canvas.candidates)
        revealed[ranked[before <= self.threshold * RESOLUTION]] = True
        return Update(revealed=revealed, state=state)
