"""How a model without masks denoises: its schedule, what a step keeps, and when a canvas is done."""

from dataclasses import dataclass

import numpy as np

from unmask.engine.signals import Flags, Floats, Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class Renoising:
    """What a checkpoint says of its sampling.

    Attributes:
        vocabulary: ids that noise is drawn from, evenly.
        entropy_bound: nats that what a step keeps may have together, the largest left out.
        coolest: temperature that a canvas would end with, and ``hottest`` the one that it begins with.
        stability: steps in a row before this one whose likeliest tokens have to be the same everywhere.
        confidence: nats that the mean entropy has to be below.
    """

    vocabulary: int
    entropy_bound: float
    coolest: float
    hottest: float
    stability: int
    confidence: float

    def temperature(self, step: int, steps_left: int) -> float:
        """Return the temperature of a step: linear in the steps left, this one included, of all the canvas may take."""
        return self.coolest + (self.hottest - self.coolest) * (steps_left / (step + steps_left))

    def kept(self, entropy: Floats) -> Flags:
        """Mark what a step keeps: the surest positions, as many as the bound allows, the surest one always.

        Ben-Hamu et al. 2025, EB-Sampler, arXiv 2505.24857.
        """
        ranked = np.argsort(entropy, kind="stable")
        # In ascending order the largest entropy is the last, so what counts is the sum before it.
        before = np.concatenate(([0.0], np.cumsum(entropy[ranked].astype(np.float64))[:-1]))
        marked = np.zeros(len(entropy), dtype=np.bool_)
        marked[ranked[before <= self.entropy_bound]] = True
        return marked

    def is_done(self, likeliest: Ints, earlier: tuple[Ints, ...], entropy: Floats) -> bool:
        """Tell whether a canvas is stable and confident.

        Args:
            likeliest: tokens after this step.
            earlier: those of the steps before it, the latest last.
            entropy: of each position.
        """
        before = earlier[len(earlier) - self.stability :] if self.stability else ()
        is_stable = len(before) == self.stability and all(np.array_equal(tokens, likeliest) for tokens in before)
        return is_stable and float(entropy.mean()) < self.confidence
