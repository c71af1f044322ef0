"""What is tried for a task type: strategies, then exit rules on those that are worth it; never more than twelve."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from unmask.strategy import FinalityModel, StrategyChoice, StrategyName
from unmask.tune.task_strategy import strategy_name
from unmask.types import ExitCondition, ExitRule, LearnedExit, ProgressSignal

MOST_CANDIDATES = 12
"""Settings a task type, strategies and rules together: as many as a published rule is given where both are compared."""
REFERENCE = StrategyChoice()
"""What candidates are compared with: a run that spends its whole budget, the likeliest position first."""
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9995)
"""Thresholds of the first family of strategies; halving them takes four trials."""
FEW_THRESHOLDS = (0.9, 0.97, 0.99)
"""Those of the second; two trials."""
LEARNED_THRESHOLD = 0.97


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A strategy with an exit rule or without one; ``label`` names the rule in tables."""

    strategy: StrategyChoice
    rule: ExitRule | None = None
    label: str = "none"

    @property
    def name(self) -> str:
        """What tables and pictures call it."""
        return strategy_name(self.strategy) + ("" if self.rule is None else f" + {self.label}")

    @property
    def short(self) -> str:
        """The same without what the strategy has learnt."""
        return replace(self, strategy=without_learned_parts(self.strategy)).name


def families(finality: FinalityModel | None) -> tuple[tuple[StrategyChoice, ...], ...]:
    """Return strategies that differ in their threshold alone, the fewest steps first.

    The first family, low confidence in its window, spends a small budget evenly; the second goes by confidence over
    the whole canvas. With a finality model its strategy comes first, and low confidence has the few trials.
    """
    steady, free = StrategyName.LOW_CONFIDENCE, StrategyName.CONFIDENCE_THRESHOLD
    first, second = (steady, free) if finality is None else (StrategyName.FINALITY, steady)
    return (
        tuple(StrategyChoice(name=first, threshold=bound, finality=finality) for bound in THRESHOLDS),
        tuple(StrategyChoice(name=second, threshold=bound) for bound in FEW_THRESHOLDS),
    )


def careful_rule(ceiling: int) -> ExitRule:
    """Return the rule that a task type starts with until one is tuned: it only observes."""
    return _rule({ProgressSignal.FLIPS: 0.0, ProgressSignal.KL: 0.01, ProgressSignal.CONFIDENCE_MIN: 0.9}, 2, ceiling)


def rules(ceiling: int, learned: LearnedExit | None) -> Mapping[str, ExitRule]:
    """Return the exit rules that are tried, by name, each of at least two kinds of signal."""
    formatted, settled = {ProgressSignal.FORMAT: 1.0}, {ProgressSignal.FLIPS: 0.0, ProgressSignal.CONFIDENCE_MIN: 0.8}
    found = {
        "format": _rule(formatted | {ProgressSignal.CONFIDENCE_MIN: 0.5}, 1, ceiling),
        "bold": _rule(formatted | {ProgressSignal.CONFIDENCE_MIN: 0.1}, 1, ceiling),
    }
    if learned is None:
        return found | {"settled": _rule(settled | {ProgressSignal.KL: 0.1}, 1, ceiling)}
    return found | {"learned": ExitRule(learned=learned)}


def with_rules(
    chosen: Sequence[StrategyChoice], learned: Mapping[str, LearnedExit | None], ceiling: int, most: int
) -> Iterator[Setting]:
    """Yield strategies with exit rules, at most so many; every strategy gets its first rule before any a second."""
    tried = [[(choice, *pair) for pair in rules(ceiling, learned[strategy_name(choice)]).items()] for choice in chosen]
    for _, entry in zip(range(most), (entry for row in zip(*tried, strict=True) for entry in row), strict=False):
        strategy, label, rule = entry
        yield Setting(strategy=strategy, rule=rule, label=label)


def without_learned_parts(strategy: StrategyChoice) -> StrategyChoice:
    """Return a strategy as a policy has it: what it has learnt is named beside it."""
    return replace(strategy, finality=None)


def _rule(bounds: Mapping[ProgressSignal, float], patience: int, ceiling: int) -> ExitRule:
    conditions = tuple(ExitCondition(signal=signal, bound=bound) for signal, bound in bounds.items())
    return ExitRule(conditions=conditions, patience=min(patience, ceiling))
