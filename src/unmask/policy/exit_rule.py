"""Exit rules: which are allowed, and whether a step's progress meets one. The engine and offline tuning share it."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from unmask.types import ExitCondition, ExitRule, LearnedExit, Progress, ProgressSignal, SignalKind

FEWEST_KINDS = 2
"""Kinds of signals that a rule combines at least."""

MEASURED = tuple(signal for signal in ProgressSignal if signal is not ProgressSignal.FORMAT)
"""Signals that logits give; the format is judged where there is text."""

MOST_LOG_ODDS = 10.0
"""Surer than this is all one: a probability of 1 − 4.5e-5."""

LEAST_NATS, MOST_NATS = 1e-4, 10.0
MOST_GAP = 50.0

_UNBOUNDED = {ProgressSignal.KL, ProgressSignal.ENTROPY, ProgressSignal.GAP}


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleFault:
    """What is wrong with a rule, in the words of an error: the field, its value, what is allowed, how to mend it."""

    field: str
    value: object
    allowed: str
    fix: str


def rule_faults(rule: ExitRule) -> Iterator[RuleFault]:
    """Yield what is wrong with a rule; nothing for one that may be used."""
    if len(rule.kinds) < FEWEST_KINDS:
        yield RuleFault(
            field="kinds",
            value=", ".join(sorted(rule.kinds)) or "none",
            allowed=f"at least {FEWEST_KINDS} of {', '.join(SignalKind)}",
            fix="Add a condition on a signal of another kind: none of them alone means quality.",
        )
    for name, count in (("patience", rule.patience), ("min_steps", rule.min_steps)):
        if count < 1:
            yield RuleFault(field=name, value=count, allowed="1 or more", fix="It counts denoise steps of a canvas.")
    seen: set[ProgressSignal] = set()
    for condition in rule.conditions:
        signal = condition.signal
        if signal in seen:
            yield RuleFault(field=signal, value="twice", allowed="one condition a signal", fix="Keep the stricter one.")
        seen.add(signal)
        yield from _bound_faults(condition)
    if rule.learned is not None:
        yield from _learned_faults(rule.learned)


def is_met(rule: ExitRule, progress: Progress) -> bool:
    """Tell whether one step meets a rule, patience and fewest steps aside. Bounds are inclusive.

    A rule that asks for the format is judged by its other conditions where the format is not: on a canvas behind which
    the answer goes on. It is not met there unless those combine two kinds themselves, nor where a learned score reads
    the format. A signal without a value meets no condition.
    """
    judged = progress[ProgressSignal.FORMAT] is not None
    kinds = rule.kinds if judged else rule.kinds - {SignalKind.FORMAT}
    if progress.filled == 0 or len(kinds) < FEWEST_KINDS:
        return False
    asked = (found for found in rule.conditions if judged or found.signal is not ProgressSignal.FORMAT)
    if not all(_holds(condition, progress[condition.signal]) for condition in asked):
        return False
    if rule.learned is None:
        return True
    score = learned_score(rule.learned, progress)
    return score is not None and score >= rule.learned.threshold


def may_be_met(rule: ExitRule, progress: Progress) -> bool:
    """Tell whether a step meets a rule if only the format, not judged so far, is as it should be."""
    if ProgressSignal.FORMAT not in rule.signals:
        return is_met(rule, progress)
    judgements = (progress.replaced(ProgressSignal.FORMAT, value) for value in (None, 0.0, 1.0))
    return any(is_met(rule, judged) for judged in judgements)


def learned_score(learned: LearnedExit, progress: Progress) -> float | None:
    """Return the probability that stopping costs nothing; ``None`` where a signal it reads has no value."""
    odds = learned.bias
    for signal, weight in learned.weights:
        value = progress[signal]
        if value is None:
            return None
        odds += weight * transformed(signal, value)
    # Twice as far as any probability that can be told from 0 or 1.
    return 1 / (1 + math.exp(-max(-700.0, min(700.0, odds))))


def transformed(signal: ProgressSignal, value: float) -> float:
    """Return a signal as a learned score reads it: finite, and about as wide as the others.

    Probabilities become log-odds within ±10; divergence and entropy, in nats, the natural logarithm of what lies
    within 1e-4 and 10; the gap ln(1 + gap) of at most 50; shares and the format stay as they are.
    """
    match signal:
        case ProgressSignal.FLIPS | ProgressSignal.FORMAT:
            return value
        case ProgressSignal.KL | ProgressSignal.ENTROPY:
            return math.log(min(max(value, LEAST_NATS), MOST_NATS))
        case ProgressSignal.GAP:
            return math.log1p(min(max(value, 0.0), MOST_GAP))
        case ProgressSignal.CONFIDENCE_P10 | ProgressSignal.CONFIDENCE_MEAN | ProgressSignal.CONFIDENCE_MIN:
            return log_odds(value)
        case _:
            assert_never(signal)


def log_odds(probability: float) -> float:
    """Return the log-odds of a probability, within ±`MOST_LOG_ODDS`."""
    if not 0 < probability < 1:
        return math.copysign(MOST_LOG_ODDS, probability - 0.5)
    odds = math.log(probability) - math.log1p(-probability)
    return min(max(odds, -MOST_LOG_ODDS), MOST_LOG_ODDS)


def _holds(condition: ExitCondition, value: float | None) -> bool:
    if value is None:
        return False
    return value <= condition.bound if condition.signal.is_small_when_done else value >= condition.bound


def _bound_faults(condition: ExitCondition) -> Iterator[RuleFault]:
    signal, bound = condition.signal, condition.bound
    if signal is ProgressSignal.FORMAT:
        if bound != 1:
            yield RuleFault(field=signal, value=bound, allowed="1", fix="A draft passes its check or does not.")
    elif not 0 <= bound < math.inf:
        yield RuleFault(field=signal, value=bound, allowed="a number from 0", fix="It bounds the signal's value.")
    elif bound > 1 and signal not in _UNBOUNDED:
        yield RuleFault(field=signal, value=bound, allowed="0 to 1", fix="It bounds a share or a probability.")


def _learned_faults(learned: LearnedExit) -> Iterator[RuleFault]:
    if not learned.weights:
        yield RuleFault(
            field="learned.weights",
            value={},
            allowed="at least one signal",
            fix="Name a signal, or leave the score out.",
        )
    if not 0 < learned.threshold <= 1:
        yield RuleFault(
            field="learned.threshold", value=learned.threshold, allowed="above 0, at most 1", fix="It is a probability."
        )
    if not math.isfinite(learned.bias):
        yield RuleFault(
            field="learned.bias", value=learned.bias, allowed="a finite number", fix="Learn the score again."
        )
    names = [signal for signal, _ in learned.weights]
    for signal, weight in learned.weights:
        if not math.isfinite(weight) or weight == 0:
            yield RuleFault(
                field=f"learned.weights.{signal}",
                value=weight,
                allowed="a finite number other than 0",
                fix="Leave out a signal that does not count: its kind does not either.",
            )
        if names.count(signal) > 1:
            yield RuleFault(
                field=f"learned.weights.{signal}", value="twice", allowed="one weight a signal", fix="Add them up."
            )
