"""Learned finality (after Bao et al. 2025, Learn2PD, arXiv 2509.25188): is this token what the full run ends with?"""

from dataclasses import dataclass
from typing import cast

import numpy as np

from unmask.engine.signals import Ints, Needs, Signals
from unmask.engine.strategies.base import CanvasView, Update, most_confident
from unmask.errors import InvalidRequestError
from unmask.policy.finality import Sight, ages, closed, features, least_score, score
from unmask.strategy import FinalityModel, StrategyChoice


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalityState:
    """The draft of the step before, closed, and for how many steps each of its tokens had stayed the same."""

    draft: Ints
    age: Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class Finality:
    """Each step reveals its quota of the best-scored candidates, and every candidate scored ``>=`` the threshold.

    The quota is that of `LowConfidence`: an even share of what is open for each step left, at least one. So progress
    is forced, and a budget too small for the threshold is used evenly, not left to the last step's filling.
    """

    model: FinalityModel
    threshold: float
    needs: Needs = Needs()

    def step(self, canvas: CanvasView, signals: Signals, state: object) -> Update:
        """Reveal what is final; remembers the step's draft."""
        memory = cast("FinalityState | None", state)
        draft = closed(np.where(canvas.open, signals.tokens, canvas.tokens), canvas.end)
        age = ages(draft, None if memory is None else memory.draft, None if memory is None else memory.age)
        sight = Sight(
            log_odds=signals.confidence.astype(np.float64),
            draft=draft,
            open=canvas.open,
            horizon=canvas.horizon,
            age=age,
            step=canvas.step,
            end=canvas.end,
        )
        scores = np.full(len(draft), -np.inf)
        scores[sight.candidates] = score(self.model, features(sight))
        revealed = canvas.candidates & (scores >= least_score(self.threshold))
        revealed |= most_confident(scores, canvas.candidates, canvas.quota)
        return Update(revealed=revealed, state=FinalityState(draft=draft, age=age))


def make_finality(choice: StrategyChoice) -> Finality:
    """Return the strategy with its model, and the model's threshold unless the choice has one.

    Raises:
        InvalidRequestError: no model is given.
    """
    model = choice.finality
    if model is None:
        raise InvalidRequestError(
            "strategy.finality", None, "a finality model", f"Strategy {choice.name} goes by one; choose another."
        )
    return Finality(model=model, threshold=model.threshold if choice.threshold is None else choice.threshold)
