"""Confidence-aware parallel decoding (Wu et al. 2025, Fast-dLLM, arXiv 2505.22618)."""

from dataclasses import dataclass

from unmask.engine.signals import Needs, Signals
from unmask.engine.strategies.base import CanvasView, Update, most_confident


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceThreshold:
    """Each step reveals every candidate with probability ``>=`` the threshold, and always the surest one."""

    threshold: float = 0.9
    needs: Needs = Needs()

    def step(self, canvas: CanvasView, signals: Signals, state: object) -> Update:
        """Reveal what is sure enough."""
        revealed = canvas.candidates & (signals.probability >= self.threshold)
        return Update(revealed=revealed | most_confident(signals.confidence, canvas.candidates, 1), state=state)
