"""Behaviour of `unmask.control.classify`."""

from pathlib import Path
from random import Random

import pytest

from unmask.control.classify import (
    Classifier,
    ClassifierError,
    Reliability,
    packaged_classifier,
    read_reliability,
    write_reliability,
)
from unmask.control.sources import Classified
from unmask.policy.policy import DEFAULT_TASK
from unmask.tasks.item import Split
from unmask.tasks.registry import all_tasks
from unmask.types import Message, Role

SUM = (Message(role=Role.USER, content="add 12 + 30"),)
CERTAIN = Reliability(recognised=1000, right=1000)


@pytest.mark.parametrize("task", all_tasks())
def test_generated_prompts_get_their_task_type(task: str) -> None:
    """Every task type is measured well enough to be relied on."""
    item = all_tasks()[task].generate(Random(5), Split.TEST)
    found = packaged_classifier().classify(item.messages)

    assert found.task == task
    assert 0.9 <= found.confidence < 1


@pytest.mark.parametrize("prompt", ["", "Hello!", "오늘 날씨가 어떤가요?", "12와 30을 더해 줘", "x = 12 + 30"])
def test_other_prompts_are_left_open(prompt: str) -> None:
    """Nothing is guessed at."""
    found = packaged_classifier().classify((Message(role=Role.USER, content=prompt),))

    assert found == Classified(task=DEFAULT_TASK, confidence=0.0)


@pytest.mark.parametrize(
    ("reliability", "task"),
    [
        ({"arithmetic": CERTAIN}, "arithmetic"),
        ({"arithmetic": Reliability(recognised=1000, right=850)}, DEFAULT_TASK),
        ({"arithmetic": Reliability(recognised=20, right=20)}, DEFAULT_TASK),
        ({"arithmetic": Reliability(recognised=0, right=0)}, DEFAULT_TASK),
        ({"sort": CERTAIN}, DEFAULT_TASK),
    ],
)
def test_unreliable_task_type_is_not_relied_on(reliability: dict[str, Reliability], task: str) -> None:
    """Often wrong, seldom measured and never measured come to the same."""
    assert Classifier(reliability).classify(SUM).task == task


def test_confidence_is_a_lower_end() -> None:
    """A clean sheet is no certainty."""
    assert CERTAIN.confidence == pytest.approx(0.99617, abs=1e-5)


def test_reliability_survives_its_file(tmp_path: Path) -> None:
    """What is written is read."""
    path = tmp_path / "classifier.json"
    write_reliability(path, {"sort": CERTAIN}, seed=3, items=10)

    assert read_reliability(path) == {"sort": CERTAIN}


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{}",
        '{"format":"unmask-classifier","version":2,"seed":0,"items":1,"tasks":{}}',
        '{"format":"unmask-classifier","version":1,"seed":0,"items":1,"tasks":{"a":{"recognised":1,"right":2}}}',
        '{"format":"unmask-classifier","version":1,"seed":0,"items":1,"tasks":{},"more":1}',
    ],
)
def test_damaged_file_is_refused(tmp_path: Path, content: str) -> None:
    """Whatever is wrong with it, the error names the file and the command that makes it."""
    path = tmp_path / "classifier.json"
    path.write_text(content, encoding="utf-8")

    with pytest.raises(ClassifierError, match="unmask tune classifier"):
        read_reliability(path)


def test_missing_file_is_refused(tmp_path: Path) -> None:
    """Neither reading nor writing fails without saying which file."""
    with pytest.raises(ClassifierError, match="none"):
        read_reliability(tmp_path / "none")
    with pytest.raises(ClassifierError, match="Name another"):
        write_reliability(tmp_path, {}, seed=0, items=1)
