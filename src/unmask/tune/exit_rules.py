"""What is tried for a task type: strategies, then exit rules on those that are worth it; never more than twelve."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from unmask.tune.exit_runs import strategy_name
from unmask.types import (
    ExitCondition,
    ExitRule,
    FinalityModel,
    LearnedExit,
    ProgressSignal,
    StrategyChoice,
    StrategyName,
)

MOST_CANDIDATES = 12
"""Settings a task type, strategies and rules together: as many as a published rule is given where both are compared."""
REFERENCE = StrategyChoice()
"""What candidates are compared with: a run that spends its whole budget, the likeliest position first."""
FINALITY_THRESHOLDS = (0.5, 0.7, 0.9, 0.97)
CONFIDENCE_THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9)
WITH_FINALITY = (0.7, 0.9)
"""Confidence thresholds that are tried beside a finality model."""
LEARNED_THRESHOLD = 0.99


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


def strategies(finality: FinalityModel | None) -> tuple[StrategyChoice, ...]:
    """Return the strategies that are tried first."""
    finals = () if finality is None else FINALITY_THRESHOLDS
    confidences = CONFIDENCE_THRESHOLDS if finality is None else WITH_FINALITY
    return (
        *(StrategyChoice(name=StrategyName.FINALITY, threshold=bound, finality=finality) for bound in finals),
        *(StrategyChoice(name=StrategyName.CONFIDENCE_THRESHOLD, threshold=bound) for bound in confidences),
        *(() if finals else (StrategyChoice(name=StrategyName.LOW_CONFIDENCE, threshold=0.9),)),
    )


def careful_rule(ceiling: int) -> ExitRule:
    """Return the rule that a task type starts with until one is tuned: it only observes."""
    return _rule({ProgressSignal.FLIPS: 0.0, ProgressSignal.KL: 0.01, ProgressSignal.CONFIDENCE_MIN: 0.9}, 2, ceiling)


def rules(ceiling: int, learned: LearnedExit | None) -> Mapping[str, ExitRule]:
    """Return the exit rules that are tried, by name, each of at least two kinds of signal."""
    formatted = {ProgressSignal.FORMAT: 1.0, ProgressSignal.CONFIDENCE_MIN: 0.5}
    settled = {ProgressSignal.FLIPS: 0.0, ProgressSignal.CONFIDENCE_MIN: 0.5}
    found = {"format": _rule(formatted, 1, ceiling), "patient": _rule(settled, 2, ceiling)}
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
