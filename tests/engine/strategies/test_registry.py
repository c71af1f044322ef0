"""Strategies by name."""

from dataclasses import replace

import pytest

from unmask.engine.strategies.confidence_threshold import ConfidenceThreshold
from unmask.engine.strategies.entropy_bound import EntropyBound
from unmask.engine.strategies.finality import Finality
from unmask.engine.strategies.klass import Klass
from unmask.engine.strategies.low_confidence import LowConfidence
from unmask.engine.strategies.prophet import Prophet
from unmask.engine.strategies.registry import make_strategy
from unmask.engine.strategies.remask import Remask
from unmask.errors import InvalidRequestError
from unmask.strategy import LOW_CONFIDENCE_WINDOW, StrategyChoice, StrategyName
from unmask.testing.learned import make_choice, make_finality_model

EXPECTED = {
    StrategyName.LOW_CONFIDENCE: (LowConfidence(), LowConfidence(threshold=0.3)),
    StrategyName.CONFIDENCE_THRESHOLD: (ConfidenceThreshold(), ConfidenceThreshold(threshold=0.3)),
    StrategyName.ENTROPY_BOUND: (EntropyBound(), EntropyBound(threshold=0.3)),
    StrategyName.KLASS: (Klass(), Klass(threshold=0.3)),
    StrategyName.PROPHET: (Prophet(), Prophet(threshold=0.3)),
    StrategyName.REMASK: (Remask(), Remask(threshold=0.3)),
    StrategyName.FINALITY: (
        Finality(model=make_finality_model(), threshold=0.9),
        Finality(model=make_finality_model(), threshold=0.3),
    ),
}


@pytest.mark.parametrize("name", StrategyName)
def test_every_name_has_its_strategy(name: StrategyName) -> None:
    """A name alone gives the strategy's own threshold, a choice with a threshold gives that one."""
    by_default, chosen = EXPECTED[name]

    assert make_strategy(make_choice(name)) == by_default
    assert make_strategy(make_choice(name, 0.3)) == chosen


def test_what_goes_by_something_learnt_needs_it() -> None:
    """A name alone is a typed error."""
    with pytest.raises(InvalidRequestError, match="a finality model") as caught:
        make_strategy(StrategyChoice(name=StrategyName.FINALITY))
    assert caught.value.param == "strategy.finality"


@pytest.mark.parametrize("name", StrategyName)
def test_a_window_is_the_default_of_low_confidence_alone(name: StrategyName) -> None:
    """Without a window the other strategies choose among all candidates; one that is asked for holds for each."""
    by_default = LOW_CONFIDENCE_WINDOW if name is StrategyName.LOW_CONFIDENCE else None

    assert make_choice(name).effective_window == by_default
    assert replace(make_choice(name), window=3).effective_window == 3
