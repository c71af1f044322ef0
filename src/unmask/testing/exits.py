"""Exit rules and progress of which a test names only what it is about."""

from unmask.types import ExitAction, ExitCondition, ExitPlan, ExitRule, LearnedExit, Progress, ProgressSignal


def make_rule(
    *,
    flips: float | None = 0.5,
    confidence: float | None = 0.5,
    is_formatted: bool = False,
    learned: LearnedExit | None = None,
    patience: int = 1,
    min_steps: int = 1,
) -> ExitRule:
    """Return a rule on few flips and a high least confidence, and on the format where wanted."""
    bounds = {ProgressSignal.FLIPS: flips, ProgressSignal.CONFIDENCE_MIN: confidence}
    if is_formatted:
        bounds[ProgressSignal.FORMAT] = 1.0
    return ExitRule(
        conditions=tuple(
            ExitCondition(signal=signal, bound=bound) for signal, bound in bounds.items() if bound is not None
        ),
        learned=learned,
        patience=patience,
        min_steps=min_steps,
    )


def make_plan(action: ExitAction = ExitAction.STOP, rule: ExitRule | None = None) -> ExitPlan:
    """Return a plan, by default one that is met once a draft has settled somewhat."""
    return ExitPlan(rule=rule or make_rule(), action=action)


def make_progress(filled: int = 3, **values: float | None) -> Progress:
    """Return progress by the names of signals."""
    return Progress(filled=filled, values=tuple((ProgressSignal(name), value) for name, value in values.items()))
