"""Scorers tried on answers that were made wrong."""

from random import Random

from tests.gate.scored_folder import right_answers, small_suite
from unmask.gate.known_wrong import known_wrong_counts, trials_of, tried_by_code
from unmask.gate.reading.phrases import load_phrases
from unmask.gate.score import Metric
from unmask.gate.scorer import Scorer
from unmask.testing.worlds import gate_response

SUITE = small_suite(copies=4)
SCORER = Scorer(SUITE, load_phrases())


def test_code_tells_right_answers_from_mutated_ones() -> None:
    """Every mutation is caught, and no right answer is failed."""
    trials = trials_of(SCORER, right_answers(SUITE), Random(0), 10)
    (facts,) = [one for one in tried_by_code(SCORER, trials) if one.metric is Metric.FACTUAL_PRECISION]

    assert (facts.discrimination.caught, facts.discrimination.wrong) == (10, 10)
    assert (facts.discrimination.passed, facts.discrimination.right) == (10, 10)
    assert facts.discrimination.tells_apart
    assert sum(of for _, of in facts.caught.values()) == 10


def test_counts_are_by_metric() -> None:
    """As a calibration takes them."""
    trials = trials_of(SCORER, right_answers(SUITE), Random(0), 3)

    assert known_wrong_counts(tried_by_code(SCORER, trials))["trap_corrected"] == {"caught": 3, "of": 3}


def test_wrong_answers_and_faults_are_not_mutated() -> None:
    """Only what was right can be made wrong."""
    responses = [gate_response("I live in Tulven.", scenario="s0-0"), gate_response(scenario="s0-1", fault="503")]

    assert trials_of(SCORER, responses, Random(0), 10) == ()
