"""Suites as files."""

from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from unmask.gate.errors import SuiteError
from unmask.gate.scenario import (
    AdmitsUnknown,
    CorrectsClaim,
    HasForm,
    KeepsManner,
    NamesEntities,
    Scenario,
    ScenarioKind,
    StatesFact,
)
from unmask.gate.suite_files import read_suite, suite_text, warnings_of
from unmask.gate.suite_named import suite_named, write_suite
from unmask.gate.world_files import write_world
from unmask.knowledge.errors import Fault, WorldError
from unmask.knowledge.files import read_world
from unmask.knowledge.shipped import example_world
from unmask.knowledge.world import World
from unmask.testing.gate_answers import small_suite
from unmask.testing.small_worlds import small_world

SUITE = """\
id: small
family: small
worlds: [세계]
scenarios:
  - id: 정우-집
    world: small
    language: ko
    kind: fact
    speaker: jungwoo
    cluster: small/jungwoo
    turns:
      - question: 집이 어디예요?
        needed: [jungwoo.home, jungwoo.persona]
        checks:
          - states: jungwoo.home
          - manner: gruff
          - names: [miven]
          - form: {most_characters: 80, pattern: ".*다[.]"}
        forbidden:
          - {subject: jungwoo, slot: home, value: dorasen}
  - id: vorn
    world: small
    language: en
    kind: multi_turn
    speaker: vorn
    cluster: small/vorn
    note: from a review
    turns:
      - question: Are you hungry?
        checks: [{admits: {subject: vorn, slot: craft}}]
      - question: Is it true of Jungwoo's rival?
        needed: [jungwoo.rival.not]
        checks:
          - corrects: jungwoo.rival.not
"""


def read_small(_: Path) -> World:
    """Return the small world, wherever it is asked for."""
    return small_world()


def read_text(tmp_path: Path, text: str, name: str = "suite.yaml") -> tuple[Scenario, ...]:
    """Write a suite and read it."""
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read_suite(path, read_small).scenarios


def as_lines(text: str) -> str:
    """Write a suite in YAML as JSONL."""
    document: dict[str, Any] = yaml.safe_load(text)
    scenarios = document.pop("scenarios")
    return "".join(orjson.dumps(part).decode() + "\n" for part in (document, *scenarios))


def test_every_part_is_read(tmp_path: Path) -> None:
    """Each field and each check arrives as what it is."""
    home, vorn = read_text(tmp_path, SUITE)

    assert home.turns[0].question == "집이 어디예요?"
    assert home.turns[0].needed == ("jungwoo.home", "jungwoo.persona")
    assert home.turns[0].checks == (
        StatesFact(statement="jungwoo.home"),
        KeepsManner(persona="gruff"),
        NamesEntities(entities=("miven",)),
        HasForm(most_characters=80, pattern=".*다[.]"),
    )
    assert home.turns[0].forbidden[0].value == "dorasen"
    assert vorn.kind is ScenarioKind.MULTI_TURN
    assert vorn.note == "from a review"
    assert vorn.turns[0].checks == (AdmitsUnknown(subject="vorn", slot="craft"),)
    assert vorn.turns[1].checks == (CorrectsClaim(misconception="jungwoo.rival.not"),)


def test_both_shapes_hold_the_same_suite(tmp_path: Path) -> None:
    """A suite is named by its content: as YAML, as JSON, as lines, and in any order, its digest is one."""
    forms = {
        "a.yaml": SUITE,
        "b.json": orjson.dumps(yaml.safe_load(SUITE)).decode(),
        "c.jsonl": as_lines(SUITE),
        "d.jsonl": "\n".join(reversed(as_lines(SUITE).splitlines()[1:])),
    }
    forms["d.jsonl"] = as_lines(SUITE).splitlines()[0] + "\n\n" + forms["d.jsonl"]
    digests = set()
    for name, text in forms.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        digests.add(read_suite(tmp_path / name, read_small).digest)

    assert len(digests) == 1


def test_the_digest_tells_suites_apart(tmp_path: Path) -> None:
    """A changed question, check or world is another suite."""
    (tmp_path / "a.yaml").write_text(SUITE, encoding="utf-8")
    (tmp_path / "b.yaml").write_text(SUITE.replace("Are you hungry?", "Are you well?"), encoding="utf-8")
    (tmp_path / "c.yaml").write_text(SUITE.replace("manner: gruff", "manner: gentle"), encoding="utf-8")
    digests = [read_suite(tmp_path / name, read_small).digest for name in ("a.yaml", "b.yaml", "c.yaml")]

    assert len(set(digests)) == 3


@pytest.mark.parametrize("name", ["suite.yaml", "suite.jsonl"])
def test_what_is_written_is_read_back(tmp_path: Path, name: str) -> None:
    """A suite with its worlds survives its files, in both shapes."""
    suite = suite_named("example-ko")
    write_suite(suite, tmp_path / name)
    read = suite_named(str(tmp_path / name))

    assert (read.id, read.family, read.scenarios) == (suite.id, suite.family, suite.scenarios)
    assert read.digest == suite.digest


def test_a_world_is_read_back_with_its_digest(tmp_path: Path) -> None:
    """Languages, what ended, aliases and misconceptions survive a world's files."""
    write_world(example_world(), tmp_path / "세계")

    assert read_world(tmp_path / "세계").digest == example_world().digest


FAULTS = [
    ("family: small", "family: small\nmood: 1", 3, "mood is no field here"),
    ("    language: ko", "    language: fr", 7, "'fr' is no language of small; allowed: en, ko"),
    ("kind: fact", "kind: facts", 8, "kind is 'facts'"),
    ("kind: fact", "kind: multi_turn", 8, "multi_turn has 1 turns; allowed: several with multi_turn, else one"),
    ("    speaker: jungwoo", "    speaker: jungwo", 9, "'jungwo' is no entity; did you mean jungwoo?"),
    ("    cluster: small/jungwoo\n", "", 5, "cluster is missing"),
    ("jungwoo.persona]", "jungwoo.temper]", 13, "'jungwoo.temper' is no statement or misconception"),
    ("jungwoo.persona]", "jungwoo.home]", 13, "'jungwoo.home' is there twice"),
    ("states: jungwoo.home", "states: jungwoo.hom", 15, "'jungwoo.hom' is no statement; did you mean jungwoo.home?"),
    ("states: jungwoo.home", "states: jungwoo.rival.not", 15, "is no statement"),
    ("- states: jungwoo.home", "- {states: jungwoo.home, manner: gruff}", 15, "exactly one of states, corrects"),
    ("- states: jungwoo.home", "- {}", 15, "exactly one of states"),
    ("states: jungwoo.home", "stated: jungwoo.home", 15, "stated is no field here"),
    ("manner: gruff", "manner: grim", 16, "'grim' is no word of the world's vocabulary"),
    ("names: [miven]", "names: [mivan]", 17, "'mivan' is no entity; did you mean miven?"),
    ("names: [miven]", "names: []", 17, "names"),
    ('".*다[.]"', '"("', 18, "a regular expression"),
    ("most_characters: 80", "most_characters: 0", 18, "most_characters is 0"),
    ("value: dorasen", "value: dorase", 20, "'dorase' is no entity"),
    ("value: dorasen", "value: miven", 20, "jungwoo home miven is true, by jungwoo.home"),
    ("slot: home,", "slot: hom,", 20, "'hom' is no slot of a person"),
    ("  - id: vorn", "  - id: 정우-집", 21, "the id '정우-집' is there twice, first on line 5"),
    ("{subject: vorn, slot: craft}", "{subject: vorn, slot: role}", 30, "vorn has a role, by vorn.role"),
    ("corrects: jungwoo.rival.not", "corrects: jungwoo.rival", 34, "is no misconception"),
    ("    world: small\n    language: en", "    world: large\n    language: en", 22, "'large' is no world here: small"),
    ("question: Are you hungry?", "question: ''", 29, "question is ''"),
    ("        checks: [{admits", "        check: [{admits", 30, "check is no field here"),
]


@pytest.mark.parametrize(("old", "new", "line", "words"), FAULTS)
def test_a_fault_has_its_file_and_line(tmp_path: Path, old: str, new: str, line: int, words: str) -> None:
    """Whatever does not fit is refused where it stands, with what is allowed."""
    assert old in SUITE
    with pytest.raises(SuiteError) as caught:
        read_text(tmp_path, SUITE.replace(old, new, 1))

    told = caught.value.message.splitlines()[1:]
    assert any(part.startswith(f"suite.yaml:{line}: ") and words in part for part in told), told


def test_lines_have_their_own_numbers(tmp_path: Path) -> None:
    """In JSONL the line of a scenario is the line of its faults."""
    lines = as_lines(SUITE).splitlines()
    lines[2] = lines[2].replace("jungwoo.rival.not", "nobody.rival.not", 1)
    text = "\n".join((*lines, '{"id": 1, "id": 2}', "[", '{"id": NaN}'))
    with pytest.raises(SuiteError) as caught:
        read_text(tmp_path, text, "suite.jsonl")

    told = caught.value.message
    assert "suite.jsonl:3: vorn: turns.1.needed.0: 'nobody.rival.not'" in told
    assert "suite.jsonl:4: it is no JSON: 'id' is there twice" in told
    assert "suite.jsonl:5: it is no JSON" in told
    assert "suite.jsonl:6: it is no JSON: NaN is no number" in told


def test_all_faults_are_told_together(tmp_path: Path) -> None:
    """One reading finds everything, so that one mending does."""
    text = (
        SUITE.replace("jungwoo.persona", "x.y")
        .replace("hungry?\n", "hungry?\n        mood: 1\n")
        .replace("manner: gruff", "manner: x")
    )
    with pytest.raises(SuiteError, match="3 to mend"):
        read_text(tmp_path, text)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("suite.yaml", "id: a\nfamily: a\nworlds: [w]\nscenarios: []\n", "it has no scenarios"),
        ("suite.yaml", "id: a\nfamily: a\nworlds: [w]\n", "it has no scenarios"),
        ("suite.yaml", "id: a\nfamily: a\nworlds: []\nscenarios: []\n", "worlds"),
        ("suite.yaml", "id: a\nfamily: a\nworlds: [w, w]\n", "is small, which is there already"),
        ("suite.yaml", "id: a\nfamily: a\nworlds: [w]\nscenarios: {}\n", "a list of scenarios"),
        ("suite.yaml", "", "a mapping with id, family, worlds and scenarios"),
        ("suite.yaml", "- 1\n", "a mapping with id, family, worlds and scenarios"),
        ("suite.yaml", "id: a\nid: b\n", "is there twice"),
        ("suite.yaml", "id: &a a\nfamily: *a\n", "alias"),
        ("suite.jsonl", "", "the file is empty"),
        ("suite.jsonl", '{"id":"a","family":"a","worlds":["w"]}\n', "it has no scenarios"),
    ],
)
def test_a_suite_without_scenarios_is_refused(tmp_path: Path, name: str, text: str, words: str) -> None:
    """Nothing asked decides nothing, and what is no suite is none."""
    with pytest.raises(SuiteError, match=words):
        read_text(tmp_path, text, name)


def test_files_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    """A missing file and one that is no text are named."""
    with pytest.raises(SuiteError, match=r"none\.yaml:1: it cannot be read: No such file"):
        read_suite(tmp_path / "none.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"id: a\nfamily: \xff\n")
    with pytest.raises(SuiteError, match=r"latin\.yaml:2: it is no text in UTF-8"):
        read_suite(tmp_path / "latin.yaml")


def test_faults_of_a_world_have_its_files(tmp_path: Path) -> None:
    """What is wrong with a world is told where it is, beside the line that asked for it."""

    def refuse(folder: Path) -> World:
        raise WorldError(folder, [Fault(file="entities.yaml", line=7, message="nobody is no entity")])

    (tmp_path / "suite.yaml").write_text(SUITE, encoding="utf-8")
    with pytest.raises(SuiteError) as caught:
        read_suite(tmp_path / "suite.yaml", refuse)

    assert caught.value.message.splitlines()[1:] == [
        "suite.yaml:3: '세계' is no world that can be used",
        "세계/entities.yaml:7: nobody is no entity",
    ]


def test_one_cluster_is_taken_with_a_warning(tmp_path: Path) -> None:
    """A suite of one cluster can be asked, and it is said that it decides nothing."""
    (tmp_path / "suite.yaml").write_text(SUITE.replace("small/vorn", "small/jungwoo"), encoding="utf-8")
    suite = read_suite(tmp_path / "suite.yaml", read_small)

    (warning,) = warnings_of(suite)
    assert "all 2 scenarios of small are of one cluster" in warning
    assert "no interval can be given" in warning
    assert warnings_of(small_suite()) == ()


@pytest.mark.parametrize("name", ["example", "example-ko"])
def test_shipped_suites_are_found_by_name(name: str) -> None:
    """The suites in the package fit the world in the package."""
    assert suite_named(name).id == name


def test_texts_of_suites_are_as_their_writers_would_write_them() -> None:
    """Nothing empty is written, and Hangul stays readable."""
    text = suite_text(small_suite(), ["w"], lines=False)

    assert "집이 어디예요?" in text
    assert "forbidden" not in text
    assert "note" not in text
