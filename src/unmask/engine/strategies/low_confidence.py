"""Low-confidence remasking (Nie et al. 2025, LLaDA, arXiv 2502.09992), with an optional threshold."""

from dataclasses import dataclass

from unmask.engine.signals import Needs, Signals
from unmask.engine.strategies.base import CanvasView, Update, most_confident


@dataclass(frozen=True, slots=True, kw_only=True)
class LowConfidence:
    """Each step reveals its quota of the surest candidates, and every candidate surer than the threshold.

    The quota spreads what is open evenly over the steps left, larger ones
    first, so it is the forced progress; the threshold compares with ``>``.
    """

    threshold: float | None = None
    needs: Needs = Needs()

    def step(self, canvas: CanvasView, signals: Signals, state: object) -> Update:
        """Reveal the larger of quota and threshold set."""
        revealed = most_confident(signals.confidence, canvas.candidates, canvas.quota)
        if self.threshold is not None:
            revealed |= canvas.candidates & (signals.probability > self.threshold)
        return Update(revealed=revealed, state=state)
