"""Strategies by name."""

from typing import assert_never

from unmask.engine.strategies.base import Strategy
from unmask.engine.strategies.confidence_threshold import ConfidenceThreshold
from unmask.engine.strategies.entropy_bound import EntropyBound
from unmask.engine.strategies.finality import make_finality
from unmask.engine.strategies.klass import Klass
from unmask.engine.strategies.low_confidence import LowConfidence
from unmask.engine.strategies.prophet import Prophet
from unmask.engine.strategies.remask import Remask
from unmask.strategy import StrategyChoice, StrategyName


def make_strategy(choice: StrategyChoice) -> Strategy:
    """Return the chosen strategy with its threshold, or its default one.

    Raises:
        InvalidRequestError: it goes by something learnt, and nothing is given.
    """
    threshold = choice.threshold
    made: Strategy
    match choice.name:
        case StrategyName.LOW_CONFIDENCE:
            made = LowConfidence(threshold=threshold)
        case StrategyName.CONFIDENCE_THRESHOLD:
            made = ConfidenceThreshold() if threshold is None else ConfidenceThreshold(threshold=threshold)
        case StrategyName.ENTROPY_BOUND:
            made = EntropyBound() if threshold is None else EntropyBound(threshold=threshold)
        case StrategyName.KLASS:
            made = Klass() if threshold is None else Klass(threshold=threshold)
        case StrategyName.PROPHET:
            made = Prophet() if threshold is None else Prophet(threshold=threshold)
        case StrategyName.REMASK:
            made = Remask() if threshold is None else Remask(threshold=threshold)
        case StrategyName.FINALITY:
            made = make_finality(choice)
        case _:
            assert_never(choice.name)
    return made
