"""A tasks file is read whole, or every line that is no item is named."""

import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from tests.tune.own.lines import line, write
from unmask.tune.own.file import MOST_FAULTS, TasksFileError, read_tasks
from unmask.types import Role


def test_items_are_read(tmp_path: Path) -> None:
    """Prompts and chats, checks and difficulty; blank lines and a byte order mark are nothing."""
    chat = [{"role": "system", "content": "짧게"}, {"role": "user", "content": "수도는?"}]
    path = write(
        tmp_path / "my.jsonl",
        [
            line(1, check={"text": "2", "regex": r"\d"}, difficulty=3),
            line(2, task="capital", prompt=None, messages=chat, check={"exact": ["서울"]}, difficulty={"hops": 2}),
        ],
    )
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n\r\n"))
    tasks = read_tasks(path)
    (faq,), (capital,) = (tuple(items.values()) for items in tasks.items.values())

    assert tasks.file.items == {"faq": 1, "capital": 1}
    assert (faq.id, str(faq.item.difficulty), len(faq.checks)) == ("항목-1", "difficulty=3", 2)
    assert [message.role for message in capital.item.messages] == [Role.SYSTEM, Role.USER]
    assert str(capital.item.difficulty) == "hops=2"
    assert tasks.check(capital.item, "서울").passed
    assert not tasks.check(capital.item, "부산").passed


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"answer": "2"}, "answer"),
        ({"id": None}, "id"),
        ({"task": "sort"}, "a name of your own"),
        ({"task": "default"}, "a name of your own"),
        ({"task": "자주 묻는 것"}, "task"),
        ({"task": "../x"}, "task"),
        ({"prompt": "  "}, "prompt"),
        ({"prompt": None}, "either prompt or messages"),
        ({"messages": [{"role": "user", "content": "x"}]}, "either prompt or messages"),
        ({"prompt": None, "messages": [{"role": "assistant", "content": "x"}]}, "the last is the user's"),
        ({"prompt": None, "messages": [{"role": "tool", "content": "x"}]}, "messages.0.role"),
        ({"check": {}}, "at least one of exact, text"),
        ({"check": {"text": None}}, "at least one of exact, text"),
        ({"check": {"like": "x"}}, "check.like"),
        ({"check": {"text": []}}, "check.text"),
        ({"check": {"contains": ["."]}}, "more than blanks and punctuation"),
        ({"check": {"regex": "(a"}}, "without look-around"),
        ({"check": {"regex": r"(?=a)b"}}, "without look-around"),
        ({"check": {"json_schema": {"type": "nothing"}}}, "check.json_schema"),
        ({"check": {"json_schema": {"$ref": "https://example.com/x"}}}, "nothing is ever fetched"),
        ({"check": {"number": {"value": "1"}}}, "check.number.value"),
        ({"check": {"number": {"value": 1, "tolerance": -1}}}, "check.number.tolerance"),
        ({"difficulty": -1}, "difficulty"),
        ({"difficulty": {"Hops": 1}}, "difficulty"),
    ],
)
def test_wrong_fields_are_named(tmp_path: Path, changes: dict[str, Any], place: str) -> None:
    """With file and line, and without an item of another line."""
    path = write(tmp_path / "my.jsonl", [line(1), line(2, **changes)])
    with pytest.raises(TasksFileError) as refused:
        read_tasks(path)

    assert str(refused.value).startswith(f"{path}:2: ")
    assert place in str(refused.value)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("[1]", "the item"),
        ("{", "no JSON object"),
        ('{"id": NaN}', "no JSON object"),
        ('{"id": "\\ud800"}', "no JSON object"),
        ("[" * 5000, "no JSON object"),
        ('{"id": "a", "id": "b"}', "'id' is there twice"),
    ],
)
def test_lines_that_are_no_objects_are_named(tmp_path: Path, raw: str, reason: str) -> None:
    """Whatever stands there."""
    path = tmp_path / "my.jsonl"
    path.write_text(f"{raw}\n", encoding="utf-8")
    with pytest.raises(TasksFileError, match=r"my\.jsonl:1: ") as refused:
        read_tasks(path)

    assert reason in str(refused.value)


def test_what_is_there_twice_is_refused(tmp_path: Path) -> None:
    """Ids, and questions of a task type however they were typed; the same question of two task types is fine."""
    typed = unicodedata.normalize("NFD", line(1)["prompt"])
    path = write(tmp_path / "my.jsonl", [line(1), line(1, prompt="?"), line(2, prompt=typed), line(3, task="other")])
    with pytest.raises(TasksFileError) as refused:
        read_tasks(path)

    told = str(refused.value).splitlines()
    assert [text.split(": ")[0] for text in told] == [f"{path}:2", f"{path}:3"]
    assert "which line 1 has" in told[0]
    assert "what line 1 asks" in told[1]


def test_difficulty_has_the_same_axes_throughout_a_task_type(tmp_path: Path) -> None:
    """An axis that an item lacks would count as easy."""
    path = write(tmp_path / "my.jsonl", [line(1, difficulty=1), line(2), line(3, task="other")])
    with pytest.raises(TasksFileError, match=r"my\.jsonl:2: difficulty has nothing, allowed: difficulty"):
        read_tasks(path)


def test_files_without_items_are_refused(tmp_path: Path) -> None:
    """One that is empty, and one that is not there; of many faults the first are told, and how many there are."""
    empty = tmp_path / "empty.jsonl"
    empty.write_text("\n\n", encoding="utf-8")
    with pytest.raises(TasksFileError, match="is empty, allowed: one item a line"):
        read_tasks(empty)
    with pytest.raises(TasksFileError, match="cannot be read"):
        read_tasks(tmp_path / "none.jsonl")
    many = write(tmp_path / "many.jsonl", [{"x": number} for number in range(MOST_FAULTS + 5)])
    with pytest.raises(TasksFileError, match="5 more lines") as refused:
        read_tasks(many)
    assert len(str(refused.value).splitlines()) == MOST_FAULTS + 1


def test_the_example_of_the_manual_is_read(tmp_path: Path) -> None:
    """Every line that ``docs/own-tasks.md`` shows is an item, and every check is shown."""
    text = (Path(__file__).parents[3] / "docs" / "own-tasks.md").read_text(encoding="utf-8")
    shown = [raw.strip() for raw in text.splitlines() if raw.strip().startswith('{"id"')]
    path = tmp_path / "my.jsonl"
    path.write_text("\n".join(shown), encoding="utf-8")

    assert sum(map(len, read_tasks(path).items.values())) == len(shown) > 0
    assert {kind for raw in shown for kind in json.loads(raw)["check"]} == {
        *("exact", "text", "contains", "regex", "json_schema", "number"),
    }
