"""Early answer commitment (Li et al. 2025, Prophet, arXiv 2508.19982)."""

from dataclasses import dataclass

from unmask.engine.signals import Needs, Signals
from unmask.engine.strategies.base import CanvasView, Update
from unmask.engine.strategies.low_confidence import LowConfidence

# The published gaps for the first third, the second third and the rest of the budget, relative to the last.
STAGES = ((1 / 3, 3.0), (2 / 3, 2.0), (1.0, 1.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Prophet:
    """Low-confidence quotas until the likeliest tokens lead clearly, then everything at once.

    The lead is the mean gap, over the candidates, between the logits of the
    likeliest and the next token; all is revealed when it is ``>=`` the
    threshold (of the budget's last third; earlier thirds ask for two and three
    times as much). Progress is forced by the quota.
    """

    threshold: float = 2.5
    needs: Needs = Needs(gap=True)

    def step(self, canvas: CanvasView, signals: Signals, state: object) -> Update:
        """Reveal the quota, or all candidates."""
        assert signals.gap is not None, "asked for in `needs`"
        progress = canvas.step / (canvas.step + canvas.steps_left)
        factor = next(factor for stage, factor in STAGES if progress < stage)
        if signals.gap[canvas.candidates].mean() >= self.threshold * factor:
            return Update(revealed=canvas.candidates, state=state)
        return LowConfidence().step(canvas, signals, state)
