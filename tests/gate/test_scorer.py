"""Scorers and their digests."""

from dataclasses import replace

import pytest

from tests.gate.scored_folder import right_answers, small_suite
from unmask.gate.errors import RunFolderError
from unmask.gate.judges.rubric import load_rubric
from unmask.gate.judges.settings import Api, JudgeSettings, PanelSettings
from unmask.gate.reading.phrases import load_phrases, parse_phrases
from unmask.gate.score import Mark, Metric
from unmask.gate.scorer import Scorer, identity_of, with_judged
from unmask.testing.worlds import gate_response

SUITE = small_suite()
SCORER = Scorer(SUITE, load_phrases())
JUDGE = JudgeSettings(
    name="a",
    api=Api.OPENAI,
    model="m",
    url="http://one",
    key_env=None,
    region=None,
    max_tokens=9,
    token_field="max_tokens",
    temperature=None,
    timeout_s=1.0,
    in_flight=1,
)
PANEL = PanelSettings(judges=(JUDGE,), votes=3, rubric=load_rubric())


def test_digest_is_of_what_can_change_marks() -> None:
    """Judges, their models, votes, rubric and phrases; not where a judge is."""
    phrases = load_phrases()
    other_rubric = replace(PANEL.rubric, criteria=PANEL.rubric.criteria[:1])
    digests = {
        identity_of(phrases, None).digest,
        identity_of(phrases, PANEL).digest,
        identity_of(phrases, replace(PANEL, votes=5)).digest,
        identity_of(phrases, replace(PANEL, judges=(replace(JUDGE, model="n"),))).digest,
        identity_of(phrases, replace(PANEL, rubric=other_rubric)).digest,
        identity_of(parse_phrases(phrases.text + "# mended\n"), None).digest,
    }

    assert len(digests) == 6
    elsewhere = replace(PANEL, judges=(replace(JUDGE, url="http://two"),))
    assert identity_of(phrases, elsewhere).digest == identity_of(phrases, PANEL).digest


def test_judges_are_asked_what_applies() -> None:
    """Naturalness of every answer, persona where one is to be kept, facts only where code read nothing."""
    first, _, _, plain, _ = right_answers(SUITE)

    def asked(text: str) -> list[str]:
        response = replace(plain, turns=(replace(plain.turns[0], text=text),))
        questions = SCORER.questions(SCORER.by_code(response), response, load_rubric())
        return [question.criterion.name for question in questions]

    questions = SCORER.questions(SCORER.by_code(first), first, load_rubric())
    assert [question.criterion.name for question in questions] == ["persona", "naturalness"]
    assert asked("I am a keeper.") == ["naturalness"]
    assert asked("The river bends twice.") == ["naturalness", "factual"]


def test_faults_are_not_judged() -> None:
    """There is nothing to ask about."""
    response = gate_response(scenario="s0-0", fault="503")

    assert SCORER.questions(SCORER.by_code(response), response, load_rubric()) == ()


def test_a_fault_counts_in_what_only_judges_mark() -> None:
    """Or naturalness would be taken of those answers alone that the infrastructure gave."""
    fault, whole = gate_response(scenario="s0-0", fault="503"), right_answers(SUITE)[0]

    found = SCORER.unjudged(fault, load_rubric())
    assert [(mark.metric, mark.value, mark.why) for mark in found] == [(Metric.NATURALNESS, None, ("503",))]
    assert SCORER.unjudged(whole, load_rubric()) == ()


def test_a_judges_mark_stands_in_place_of_codes_which_stays_in_why() -> None:
    """One mark a metric, in the order of metrics."""
    scored = SCORER.by_code(right_answers(SUITE)[0])
    judged = Mark(metric=Metric.PERSONA, value=0.5, why=("half",))
    found = with_judged(scored, [judged, Mark(metric=Metric.NATURALNESS, value=None)])

    assert [mark.metric for mark in found.marks] == [
        metric for metric in Metric if metric in {mark.metric for mark in found.marks}
    ]
    (persona,) = [mark for mark in found.marks if mark.metric is Metric.PERSONA]
    assert persona.value == 0.5
    assert persona.why[:2] == ("half", "by code: 1")


def test_an_answer_to_another_suite_is_refused() -> None:
    """Its scenario is named."""
    with pytest.raises(RunFolderError, match="'elsewhere'"):
        SCORER.by_code(gate_response("x", scenario="elsewhere"))
