"""What is learnt elsewhere, written down by hand."""

from unmask.policy.finality import FEATURES
from unmask.strategy import FinalityModel, HiddenUnit, StrategyChoice, StrategyName

SURE = dict.fromkeys(FEATURES, 0.0) | {"log_odds": 1.0, "neighbour_log_odds": 0.2, "age": 0.8, "left_fixed": 0.3}


def make_finality_model(*, threshold: float = 0.9, hidden: bool = False, bias: float = -0.5) -> FinalityModel:
    """Return a score that goes by a position's own log-odds most, and by its neighbours' and its age."""
    size = len(FEATURES)
    weights = tuple(SURE.values())
    return FinalityModel(
        version="0123456789abcdef",
        centre=(0.0,) * size,
        scale=(1.0,) * size,
        hidden=(
            HiddenUnit(weights=weights, bias=0.0),
            HiddenUnit(weights=tuple(-weight for weight in weights), bias=0.1),
        )
        if hidden
        else (),
        weights=(1.0, -1.0) if hidden else weights,
        bias=bias,
        threshold=threshold,
    )


def make_choice(name: StrategyName, threshold: float | None = None) -> StrategyChoice:
    """Return a strategy with whatever it goes by."""
    finality = make_finality_model() if name.needs_model else None
    return StrategyChoice(name=name, threshold=threshold, finality=finality)
