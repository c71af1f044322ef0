"""Quality criteria of task types of one's own."""

from pathlib import Path

import pytest

from tests.tune.own.lines import line, write
from unmask.errors import ConfigError
from unmask.tasks.criteria import Judged
from unmask.tasks.failure import FailureKind
from unmask.tune.own.criteria import criteria_of, is_default, read_criteria, write_criteria
from unmask.tune.own.file import read_tasks

FAQ = """
faq:
- {failure: format, meaning: 한 문장이 아니다, judged: human, response: reopen_span}
- {failure: logic, meaning: 다른 질문의 답이다, judged: automatic, checker: faq.check, response: larger_budget}
- {failure: fact, meaning: 규정과 다르다, judged: human, response: hand_to_person}
"""


def test_default_criteria_are_marked_and_read_back(tmp_path: Path) -> None:
    """A pattern or schema sees what is no form; of other checks only a person does. They are marked as a default."""
    tasks = read_tasks(
        write(tmp_path / "my.jsonl", [line(1), line(2, task="codes", check={"regex": r"\d+"})]),
    )
    path = write_criteria(tmp_path, criteria_of(tasks))
    found = read_criteria(path, tasks.items)

    assert found == criteria_of(tasks)
    assert all(is_default(task, criteria) for task, criteria in found.items())
    assert path.read_text(encoding="utf-8").count("# DEFAULT") == 2
    form = {task: next(one for one in found[task] if one.failure is FailureKind.FORMAT) for task in found}
    assert (form["faq"].judged, form["codes"].judged) == (Judged.HUMAN, Judged.AUTOMATIC)


def test_given_criteria_are_no_default(tmp_path: Path) -> None:
    """They are kept as they were given."""
    given = tmp_path / "given.yaml"
    given.write_text(FAQ, encoding="utf-8")
    criteria = read_criteria(given, ["faq"])
    kept = write_criteria(tmp_path, criteria)

    assert not is_default("faq", criteria["faq"])
    assert read_criteria(kept, ["faq"]) == criteria
    assert "DEFAULT\nfaq" not in kept.read_text(encoding="utf-8")
    assert "규정과 다르다" in kept.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "quality criteria"),
        ("{", "no YAML"),
        ("a: &x [1]\nb: *x\n", "alias"),
        (FAQ + FAQ, "twice"),
        (FAQ.replace("faq:", "other:"), "allowed: faq"),
        (FAQ.replace("failure: fact", "failure: logic"), "no quality criterion for fact"),
        (FAQ.replace("faq.check", "faq.verify"), "allowed: faq.check"),
        (FAQ.replace("hand_to_person", "larger_budget"), "does not answer a fact failure"),
    ],
)
def test_incomplete_criteria_are_refused(tmp_path: Path, text: str, reason: str) -> None:
    """With the file's name."""
    path = tmp_path / "criteria.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as refused:
        read_criteria(path, ["faq"])

    assert str(path) in str(refused.value)
    assert reason in str(refused.value)
