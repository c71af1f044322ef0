"""KL-adaptive stability sampling (Kim et al. 2025, KLASS, arXiv 2511.05664)."""

from dataclasses import dataclass

import numpy as np
from torch import Tensor

from unmask.engine.signals import Floats, Needs, Signals
from unmask.engine.strategies.base import CanvasView, Update, most_confident


@dataclass(frozen=True, slots=True, kw_only=True)
class Klass:
    """Each step reveals candidates that are sure and whose distribution has settled.

    Sure: probability ``>`` the threshold. Settled: the divergence from the
    step before, in nats, is ``<`` ``divergence``. Where none is both, the
    surest candidate is revealed; a first step has nothing to compare with and
    does the same.
    """

    threshold: float = 0.9
    divergence: float = 0.01
    needs: Needs = Needs(log_probabilities=True)

    def step(self, canvas: CanvasView, signals: Signals, state: object) -> Update:
        """Reveal what is sure and settled; remembers the step's distribution."""
        current = signals.log_probabilities
        assert current is not None, "asked for in `needs`"
        revealed = np.zeros_like(canvas.candidates)
        if isinstance(state, Tensor):
            settled = _divergence(current, state) < self.divergence
            revealed = canvas.candidates & (signals.probability > self.threshold) & settled
        if not revealed.any():
            revealed = most_confident(signals.confidence, canvas.candidates, 1)
        # A copy: the original is a view that would keep the whole batch's distributions alive.
        return Update(revealed=revealed, state=current.clone())


def _divergence(current: Tensor, previous: Tensor) -> Floats:
    difference = (current - previous).nan_to_num(0.0)
    divergence: Floats = (current.exp() * difference).sum(-1).numpy()
    return divergence
