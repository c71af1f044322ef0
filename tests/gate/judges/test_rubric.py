"""Rubrics."""

from pathlib import Path

import pytest

from unmask.gate.judges.errors import JudgeError
from unmask.gate.judges.rubric import load_rubric, parse_rubric, read_rubric
from unmask.gate.score import Metric

GOOD = """
criteria:
  - criterion: tone
    metric: persona
    when: always
    question: Is it in character?
    scale: {"0": out, "1": half, "2": in}
    passes: 0.5
    margin: 0.25
"""


def test_shipped_rubric_marks_each_metric_once() -> None:
    """Persona, naturalness and facts are judged."""
    metrics = [criterion.metric for criterion in load_rubric().criteria]

    assert metrics == [Metric.PERSONA, Metric.NATURALNESS, Metric.FACTUAL_PRECISION]


def test_value_is_where_a_score_lies_between_the_ends() -> None:
    """The worst is 0 and the best 1, wherever a scale begins."""
    (criterion,) = parse_rubric(GOOD).criteria

    assert [criterion.value(score) for score in criterion.scale] == [0.0, 0.5, 1.0]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("metric: persona", "metric: seconds", "measured and not judged"),
        ("metric: persona", "metric: charm", "metric"),
        ('"1": half', '"3": half', "goes up by ones"),
        ("    margin: 0.25\n", "", "margin is missing"),
        ("margin: 0.25", "margin: 0.25\n    weight: 2", "weight is no field"),
        ("passes: 0.5", "passes: 1.5", "passes is 1.5"),
        ("criteria:", "criteria: [", "no YAML"),
    ],
)
def test_misfits_are_refused_with_their_place(old: str, new: str, said: str) -> None:
    """The message names the field."""
    with pytest.raises(JudgeError, match=said):
        parse_rubric(GOOD.replace(old, new))


def test_two_criteria_of_one_metric_are_refused() -> None:
    """A metric has one mark."""
    twice = GOOD + GOOD.split("criteria:\n")[1].replace("tone", "voice")

    with pytest.raises(JudgeError, match="persona is there twice"):
        parse_rubric(twice)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """Its path is in the message."""
    with pytest.raises(JudgeError, match=r"none\.yaml"):
        read_rubric(tmp_path / "none.yaml")
