"""The strategy of a task type that is not run with the one of all others."""

from collections.abc import Sequence
from dataclasses import dataclass

from unmask.strategy import StrategyChoice


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStrategy:
    """A task type's own strategy, which its curve is measured with."""

    task: str
    strategy: StrategyChoice


def strategy_for(task: str, own: Sequence[TaskStrategy], common: StrategyChoice) -> StrategyChoice:
    """Return a task type's own strategy, or the common one where it has none."""
    return next((entry.strategy for entry in own if entry.task == task), common)


def strategy_name(strategy: StrategyChoice) -> str:
    """Return a strategy as people write it, the version of what it has learnt included."""
    threshold = "" if strategy.threshold is None else f" {strategy.threshold:g}"
    window = "" if strategy.window is None else f" window {strategy.window}"
    version = "" if strategy.finality is None else f" ({strategy.finality.version})"
    return f"{strategy.name}{threshold}{window}{version}"
