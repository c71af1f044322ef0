"""Which exit rules are allowed, and when a step meets one."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.policy.exit_rule import (
    MEASURED,
    MOST_LOG_ODDS,
    is_met,
    learned_score,
    log_odds,
    may_be_met,
    rule_faults,
    transformed,
)
from unmask.testing.exits import make_progress, make_rule
from unmask.types import ExitCondition, ExitRule, LearnedExit, Progress, ProgressSignal

SCORE = LearnedExit(
    version="0",
    bias=-1.0,
    weights=((ProgressSignal.FLIPS, -2.0), (ProgressSignal.CONFIDENCE_MIN, 1.0)),
    threshold=0.5,
)


def faults(rule: ExitRule) -> list[str]:
    """Return the fields that are at fault."""
    return [fault.field for fault in rule_faults(rule)]


def test_signals_of_one_kind_are_no_rule() -> None:
    """Two signals of one kind, or none at all, are refused; what a score reads counts."""
    surely = ExitCondition(signal=ProgressSignal.GAP, bound=2.0)
    alone = ExitRule(conditions=(*make_rule(flips=None).conditions, surely))

    assert faults(alone) == ["kinds"]
    assert faults(ExitRule()) == ["kinds"]
    assert faults(replace(alone, learned=SCORE)) == []
    assert faults(make_rule()) == []
    assert faults(make_rule(flips=None, is_formatted=True)) == []


@pytest.mark.parametrize(
    ("rule", "field"),
    [
        (make_rule(patience=0), "patience"),
        (make_rule(min_steps=0), "min_steps"),
        (make_rule(flips=-0.1), "flips"),
        (make_rule(flips=1.1), "flips"),
        (make_rule(confidence=math.nan), "confidence_min"),
        (ExitRule(conditions=(*make_rule().conditions, make_rule().conditions[0])), "flips"),
        (
            ExitRule(conditions=(*make_rule().conditions, ExitCondition(signal=ProgressSignal.FORMAT, bound=0.5))),
            "format",
        ),
        (
            ExitRule(conditions=(*make_rule().conditions, ExitCondition(signal=ProgressSignal.KL, bound=math.inf))),
            "kl",
        ),
        (make_rule(learned=replace(SCORE, threshold=0.0)), "learned.threshold"),
        (make_rule(learned=replace(SCORE, bias=math.inf)), "learned.bias"),
        (make_rule(learned=replace(SCORE, weights=((ProgressSignal.KL, 0.0),))), "learned.weights.kl"),
        (make_rule(learned=replace(SCORE, weights=((ProgressSignal.KL, 1.0),) * 2)), "learned.weights.kl"),
    ],
)
def test_values_out_of_range_are_named(rule: ExitRule, field: str) -> None:
    """A fault says which field, what is allowed and how to mend it."""
    found = list(rule_faults(rule))

    assert {fault.field for fault in found} == {field}
    assert all(fault.allowed and fault.fix.endswith(".") for fault in found)


@pytest.mark.parametrize(
    ("flips", "confidence", "expected"),
    [(0.5, 0.5, True), (0.51, 0.9, False), (0.0, 0.49, False), (None, 0.9, False), (0.0, None, False)],
)
def test_bounds_are_inclusive_and_all_hold(flips: float | None, confidence: float | None, expected: bool) -> None:
    """Small signals are bounded above, large ones below; what has no value holds nothing."""
    assert is_met(make_rule(), make_progress(flips=flips, confidence_min=confidence)) is expected


def test_nothing_to_fill_meets_nothing() -> None:
    """A canvas that stops anyway does not exit."""
    assert not is_met(make_rule(), make_progress(0, flips=0.0, confidence_min=1.0))


@pytest.mark.parametrize(("format_", "expected"), [(1.0, True), (0.0, False), (None, True)])
def test_a_format_that_is_not_judged_leaves_two_other_kinds(format_: float | None, expected: bool) -> None:
    """Where the answer goes on, conditions of two kinds are enough; a judged draft has to pass."""
    progress = make_progress(flips=0.0, confidence_min=1.0, format=format_)

    assert is_met(make_rule(is_formatted=True), progress) is expected


def test_a_format_that_is_not_judged_leaves_one_other_kind_short() -> None:
    """Confidence alone never stops a canvas."""
    rule = make_rule(flips=None, is_formatted=True)

    assert not is_met(rule, make_progress(confidence_min=1.0, format=None))
    assert is_met(rule, make_progress(confidence_min=1.0, format=1.0))
    assert may_be_met(rule, make_progress(confidence_min=1.0))
    assert not may_be_met(rule, make_progress(confidence_min=0.1))


def test_a_score_is_logistic_over_transformed_signals() -> None:
    """Worked out by hand; a signal without a value leaves no score."""
    progress = make_progress(flips=0.25, confidence_min=0.75)

    assert learned_score(SCORE, progress) == pytest.approx(1 / (1 + math.exp(1.5 - math.log(3))))
    assert learned_score(SCORE, make_progress(flips=0.25)) is None
    assert not is_met(ExitRule(learned=SCORE), progress)
    assert is_met(ExitRule(learned=replace(SCORE, threshold=0.4)), progress)


def test_a_score_that_reads_the_format_needs_it_judged() -> None:
    """Without a judgement there is no score, so nothing is met; with one it counts."""
    rule = ExitRule(
        learned=replace(SCORE, weights=((ProgressSignal.FLIPS, -1.0), (ProgressSignal.FORMAT, 4.0)), bias=-2.0)
    )

    assert not is_met(rule, make_progress(flips=0.0, format=None))
    assert is_met(rule, make_progress(flips=0.0, format=1.0))
    assert may_be_met(rule, make_progress(flips=0.0))


@given(st.sampled_from(ProgressSignal), st.floats(0, allow_infinity=True, allow_nan=False))
def test_transforms_are_finite_and_rise(signal: ProgressSignal, value: float) -> None:
    """No value makes a score infinite, and more of a signal never transforms to less."""
    value = min(value, 1.0) if signal not in {ProgressSignal.KL, ProgressSignal.ENTROPY, ProgressSignal.GAP} else value

    assert abs(transformed(signal, value)) <= MOST_LOG_ODDS
    assert transformed(signal, value / 2) <= transformed(signal, value)


@pytest.mark.parametrize(
    ("probability", "expected"), [(0.0, -10), (1.0, 10), (0.5, 0), (0.75, math.log(3)), (1e-9, -10)]
)
def test_log_odds_are_bounded(probability: float, expected: float) -> None:
    """Surer than the bound is all one."""
    assert log_odds(probability) == pytest.approx(expected)


def test_progress_is_read_by_signal() -> None:
    """What was not measured has no value, and a value may be put in later."""
    progress = make_progress(kl=0.5)

    assert [progress[signal] for signal in MEASURED] == [None, 0.5, None, None, None, None, None]
    later = progress.replaced(ProgressSignal.FORMAT, 1.0).replaced(ProgressSignal.KL, None)
    assert later == Progress(filled=3, values=((ProgressSignal.FORMAT, 1.0), (ProgressSignal.KL, None)))
