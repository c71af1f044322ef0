"""Behaviour of `unmask.gate.suite_append` and of scenarios made from findings."""

import json
from pathlib import Path

import pytest

from tests.gate.review_runs import make_correction, make_key, make_scored
from unmask.config.strict_yaml import load_yaml
from unmask.gate.correction import Decision
from unmask.gate.errors import RunFolderError
from unmask.gate.review_errors import ReviewError
from unmask.gate.review_finding import scenario_from
from unmask.gate.scenario import Scenario
from unmask.gate.suite_append import append_scenario, scenario_of

HEAD = "id: small\nfamily: small\nworlds: [world]  # 세계\n"
ITEM = """\
{dash} id: s0
{pad} world: w
{pad} language: ko
{pad} kind: trap
{pad} speaker: kaelis
{pad} cluster: w:kaelis
{pad} turns:
{pad}   - question: 봉인한 영웅은 누구인가?  # 옛 봉인
{pad}     needed: [seal.old]
{pad}     checks: [{{states: seal.old}}, {{names: [hero, mage]}}, {{form: {{most_characters: 90}}}}]
{pad}     forbidden: [{{subject: seal, slot: sealed_by, value: later}}]
"""
CORRECTION = make_correction(make_scored(make_key("s0")), Decision.JUDGE_ERROR)


def yaml_suite(path: Path, indent: str = "  ", tail: str = "") -> Path:
    """Write a suite whose list is indented so far."""
    item = ITEM.format(dash=f"{indent}-", pad=f"{indent} ")
    path.write_text(f"{HEAD}scenarios:\n{item}{tail}", encoding="utf-8")
    return path


def copied(path: Path, name: str | None = None, question: str | None = None) -> Scenario:
    """Return the scenario that the correction makes of the suite's."""
    return scenario_from(scenario_of(path, "s0"), CORRECTION, run="run-1", name=name, question=question)


@pytest.mark.parametrize("indent", ["", "  ", "    "])
@pytest.mark.parametrize("tail", ["", "\n# the end", "\n"])
def test_scenario_is_added_and_all_else_stays(tmp_path: Path, indent: str, tail: str) -> None:
    """However the list is indented; comments stay where they were."""
    path = yaml_suite(tmp_path / "suite.yaml", indent, tail)
    before = path.read_text(encoding="utf-8")
    added = copied(path)
    append_scenario(path, added)
    after = path.read_text(encoding="utf-8")
    found = load_yaml(after)

    assert after.startswith(before.rstrip("\n"))
    assert isinstance(found, dict)
    assert [one["id"] for one in found["scenarios"]] == ["s0", f"s0-review-{CORRECTION.id[:6]}"]
    assert scenario_of(path, added.id) == added
    append_scenario(path, copied(path, "third"))
    assert scenario_of(path, "third").turns == added.turns


def test_lines_and_json_are_added_to(tmp_path: Path) -> None:
    """Each in its own manner."""
    scenario = copied(yaml_suite(tmp_path / "suite.yaml"))
    head = {"id": "small", "family": "small", "worlds": ["world"]}
    (tmp_path / "suite.jsonl").write_text(json.dumps(head), encoding="utf-8")
    (tmp_path / "suite.json").write_text(json.dumps(head | {"scenarios": []}), encoding="utf-8")
    for name in ("suite.jsonl", "suite.json"):
        append_scenario(tmp_path / name, scenario)

        assert scenario_of(tmp_path / name, scenario.id) == scenario
    assert (tmp_path / "suite.jsonl").read_text(encoding="utf-8").splitlines()[0] == json.dumps(head)


def test_note_says_where_it_comes_from(tmp_path: Path) -> None:
    """Run, answer, reviewer and what they said; it stays in its cluster, as it resembles its source."""
    found = copied(yaml_suite(tmp_path / "suite.yaml"), "s1", "누가 봉인했지?")

    assert (found.id, found.cluster, found.turns[-1].question) == ("s1", "w:kaelis", "누가 봉인했지?")
    assert found.note == (
        "from the review of run run-1: answer s0:0:model, factual_precision judge error by mina at "
        f"2026-01-01T00:00:00+00:00 (correction {CORRECTION.id}): 후대 영웅은 빠져야 맞다"
    )


@pytest.mark.parametrize("ending", [HEAD, "id: small\nfamily: small\nworlds:\n- world\n"])
def test_suite_that_ends_in_something_else_is_left_alone(tmp_path: Path, ending: str) -> None:
    """Rather than rewritten without its comments, or given a world that is a scenario."""
    path = tmp_path / "suite.yaml"
    item = ITEM.format(dash="-", pad=" ")
    path.write_text(f"scenarios:\n{item}{ending}", encoding="utf-8")
    before = path.read_bytes()

    with pytest.raises(ReviewError, match="Move the list to the end"):
        append_scenario(path, copied(path))
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("suite.yaml", "id: [", "is no suite"),
        ("suite.yaml", "- a\n- b\n", "allowed: a mapping"),
        ("suite.yaml", HEAD, "allowed: a mapping"),
        ("suite.yaml", f"{HEAD}scenarios: []\n", "has no scenario 's0'"),
        ("suite.yaml", f"{HEAD}scenarios:\n- id: s0\n", "is no scenario: world"),
        ("suite.jsonl", "{}\n{", "is no suite"),
    ],
)
def test_file_that_is_no_suite_is_named(tmp_path: Path, name: str, text: str, says: str) -> None:
    """With what is wrong."""
    (tmp_path / name).write_text(text, encoding="utf-8")

    with pytest.raises(ReviewError, match=says):
        scenario_of(tmp_path / name, "s0")


def test_other_files_are_refused(tmp_path: Path) -> None:
    """None there, or no text; or a scenario of that name is there, or the new name is none."""
    path = yaml_suite(tmp_path / "suite.yaml")
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00")

    with pytest.raises(ReviewError, match="there is no suite"):
        scenario_of(tmp_path / "none.yaml", "s0")
    with pytest.raises(RunFolderError, match="UTF-8"):
        scenario_of(tmp_path / "binary.yaml", "s0")
    with pytest.raises(ReviewError, match="has a scenario 's0' already"):
        append_scenario(path, copied(path, "s0"))
    with pytest.raises(ReviewError, match="is no scenario: id"):
        append_scenario(path, copied(path, "a name"))
