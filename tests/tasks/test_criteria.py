"""Quality criteria: complete, strict, and in the documents as they are in the file."""

import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.tasks.drawn import drawn
from unmask.errors import ConfigError
from unmask.tasks.criteria import RESPONSES, Judged, checkers, load_criteria, parse_criteria
from unmask.tasks.failure import FailureKind
from unmask.tasks.item import Split
from unmask.tasks.registry import all_tasks

DOCS = Path(__file__).parents[2] / "docs" / "tasks.md"


def raw() -> dict[str, list[dict[str, Any]]]:
    """Return the packaged file as it stands."""
    text = files("unmask.tasks").joinpath("criteria.yaml").read_text(encoding="utf-8")
    read: dict[str, list[dict[str, Any]]] = yaml.safe_load(text)
    return read


@pytest.mark.parametrize("task", all_tasks())
def test_every_task_type_has_criteria_of_every_kind(task: str) -> None:
    """Format, logic and fact are each said in words, with a response that fits the kind."""
    criteria = load_criteria()[task]

    assert {criterion.failure for criterion in criteria} == set(FailureKind)
    assert all(criterion.response in RESPONSES[criterion.failure] for criterion in criteria)
    assert all((criterion.judged is Judged.HUMAN) == (criterion.checker is None) for criterion in criteria)


@pytest.mark.parametrize("task", all_tasks())
def test_checkers_that_are_named_judge(task: str) -> None:
    """A checker's name is a task type and one of its two judges, and that judge passes the reference."""
    item = drawn(task, Split.TUNE, 1)[0]
    for criterion in load_criteria()[task]:
        if criterion.checker is not None:
            name, judge = criterion.checker.split(".")
            asked = item if judge == "check" else item.messages
            assert getattr(all_tasks()[name], judge)(asked, item.answer).passed


def test_documents_show_the_file() -> None:
    """The table of `docs/tasks.md` is the file, row by row."""
    section = DOCS.read_text(encoding="utf-8").split("## Quality criteria")[1].split("\n## ")[0]
    rows = re.findall(r"(?m)^\| (\w+) \| (\w+) \| (.*) \| (?:`(\S+)`|a person) \| (.*) \|$", section)
    expected = [
        (task, criterion.failure, criterion.meaning, criterion.checker or "", criterion.response.replace("_", " "))
        for task, criteria in load_criteria().items()
        for criterion in criteria
    ]

    assert rows == expected


@pytest.mark.parametrize("task", all_tasks())
def test_a_task_type_without_criteria_is_refused(task: str) -> None:
    """The message names it."""
    text = yaml.safe_dump({name: entries for name, entries in raw().items() if name != task})

    with pytest.raises(ConfigError, match=f"{task}.*format, logic, fact"):
        parse_criteria(text)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"colour": "red"}, "colour"),
        ({"failure": "taste"}, "failure"),
        ({"response": "larger_budget"}, "allowed: reopen_span"),
        ({"checker": "lookup.guess"}, r"lookup\.guess.*allowed: lookup\.check"),
        ({"judged": "human"}, "a human one has none"),
        ({"checker": None}, "names its checker"),
        ({"meaning": " "}, "in words"),
    ],
)
def test_a_faulty_entry_is_refused(change: dict[str, object], message: str) -> None:
    """Unknown keys, kinds and checkers, and what does not fit together, are each named."""
    entries = raw()
    entries["lookup"][0] |= change

    with pytest.raises(ConfigError, match=message):
        parse_criteria(yaml.safe_dump(entries))


@pytest.mark.parametrize("text", ["", "- 1", "a: [", "poetry: []", "sort: []\nsort: []"])
def test_a_file_of_another_kind_is_refused(text: str) -> None:
    """Neither lists, broken YAML, unknown task types nor one that is there twice pass."""
    with pytest.raises(ConfigError):
        parse_criteria(text)


def test_every_judge_may_be_named() -> None:
    """Each task type has two."""
    assert len(checkers()) == 2 * len(all_tasks())
