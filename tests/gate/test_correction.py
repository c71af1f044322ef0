"""Behaviour of `unmask.gate.correction` and `unmask.gate.bar`."""

import pytest

from tests.gate.review_runs import FACT, make_correction, make_key, make_mark, make_response, make_scored
from unmask.gate.bar import passes
from unmask.gate.correction import Decision, Ruling, corrected
from unmask.gate.review_errors import ReviewError
from unmask.gate.score import Metric


@pytest.mark.parametrize(
    ("metric", "value", "decision", "given", "becomes"),
    [
        (FACT, 1.0, Decision.CORRECT, None, 1.0),
        (FACT, 0.5, Decision.CORRECT, None, 1.0),
        (FACT, 0.5, Decision.WRONG, None, 0.5),
        (FACT, 1.0, Decision.WRONG, None, 0.0),
        (FACT, 0.5, Decision.JUDGE_ERROR, None, 1.0),
        (FACT, 1.0, Decision.JUDGE_ERROR, None, 0.0),
        (FACT, None, Decision.CORRECT, None, 1.0),
        (FACT, None, Decision.JUDGE_ERROR, 0.25, 0.25),
        (Metric.HALLUCINATION, 1.0, Decision.JUDGE_ERROR, None, 0.0),
        (Metric.HALLUCINATION, 0.0, Decision.WRONG, None, 1.0),
        (Metric.PERSONA, 0.8, Decision.CORRECT, None, 0.8),
        (Metric.PERSONA, 0.5, Decision.CORRECT, 0.75, 0.75),
        (FACT, 0.0, Decision.SCENARIO_ERROR, None, None),
    ],
)
def test_decision_becomes_a_value(
    metric: Metric, value: float | None, decision: Decision, given: float | None, becomes: float | None
) -> None:
    """A mark that agrees is kept; another goes to the end of its side; an error goes to the other side of the bar."""
    scored = make_scored(make_key(), make_mark(value, metric))
    found = make_correction(scored, decision, metric=metric, value=given)

    assert found.value == becomes
    assert found.passed is (None if becomes is None else passes(metric, becomes))


@pytest.mark.parametrize(
    ("value", "ruling", "names"),
    [
        (1.0, Ruling(decision=Decision.WRONG, value=1.0), "not wrong"),
        (1.0, Ruling(decision=Decision.CORRECT, value=0.5), "not correct"),
        (1.0, Ruling(decision=Decision.JUDGE_ERROR, value=1.0, note="n"), "no judge error"),
        (None, Ruling(decision=Decision.JUDGE_ERROR, note="n"), "no mark that could be in error"),
        (1.0, Ruling(decision=Decision.SCENARIO_ERROR, value=1.0, note="n"), "has no value"),
        (1.0, Ruling(decision=Decision.CORRECT, value=float("nan")), "allowed: 0 to 1"),
        (1.0, Ruling(decision=Decision.JUDGE_ERROR, note=" "), "needs a note"),
        (1.0, Ruling(decision=Decision.CORRECT, note="x" * 3000), "up to 2000"),
    ],
)
def test_ruling_that_contradicts_itself_is_refused(value: float | None, ruling: Ruling, names: str) -> None:
    """The message says what is wrong with it."""
    response = make_response(make_key())

    with pytest.raises(ReviewError, match=names):
        corrected(response, make_mark(value), ruling, who="mina", when="now")


def test_seconds_are_no_matter_of_opinion() -> None:
    """A clock measured them; a reviewer without a name signs nothing."""
    response = make_response(make_key())

    with pytest.raises(ReviewError, match="measured, not judged"):
        corrected(response, make_mark(1.0, Metric.SECONDS), Ruling(decision=Decision.CORRECT), who="mina", when="now")
    with pytest.raises(ReviewError, match="--as NAME"):
        corrected(response, make_mark(), Ruling(decision=Decision.CORRECT), who=" ", when="now")


def test_id_is_of_all_that_was_said() -> None:
    """Two decisions that differ in anything have other ids; the same one has the same."""
    scored = make_scored(make_key())
    made = [make_correction(scored, Decision.WRONG, after=seconds) for seconds in (0, 0, 1)]

    assert made[0].id == made[1].id != made[2].id
