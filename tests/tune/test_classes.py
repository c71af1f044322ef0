"""Service classes are borne out by what the traffic needs, or they are not."""

import io
from pathlib import Path

import numpy as np
import orjson
import pytest
from rich.console import Console

from unmask.tune.classes import Split, advise_classes, class_json, class_table
from unmask.tune.errors import CurveFileError
from unmask.tune.traffic import Served, read_traffic


def served(name: str, count: int, *, mean: float = 0.0, task: str = "sort", seed: int = 0) -> list[Served]:
    """Return requests of a class whose difficulty lies around a mean."""
    values = np.random.default_rng(seed).normal(mean, 1.0, (count, 2))
    return [
        Served(service_class=name, task=task, difficulty=float(score), seconds=float(abs(noise)), deadline_s=None)
        for score, noise in values
    ]


def test_needs_that_differ_call_for_classes() -> None:
    """One class asks what is harder, by half a standard deviation."""
    advice = advise_classes([*served("batch", 500, mean=0.8), *served("interactive", 500, seed=1)], 0)

    assert advice.split is Split.CLASSES
    assert "batch in difficulty" in advice.reason


def test_needs_that_are_alike_call_for_one_policy() -> None:
    """With enough traffic it is certain that no difference is of account."""
    advice = advise_classes([*served("batch", 4000), *served("interactive", 4000, seed=1)], 0)

    assert advice.split is Split.ONE_POLICY


def test_another_mix_of_task_types_is_no_class() -> None:
    """Budgets are set per task type already: only what differs within one counts."""
    batch = [*served("batch", 3000, mean=3.0, task="latin"), *served("batch", 1000, seed=1)]
    interactive = [*served("interactive", 1000, mean=3.0, task="latin", seed=2), *served("interactive", 3000, seed=3)]

    assert advise_classes([*batch, *interactive], 0).split is Split.ONE_POLICY


@pytest.mark.parametrize(
    ("traffic", "reason"),
    [
        ([], "0 service classes"),
        (served("batch", 500), "1 service class,"),
        ([*served("batch", 500), *served("interactive", 99)], "interactive 99"),
        ([*served("batch", 150, mean=0.2), *served("interactive", 150, seed=1)], "may be of account or not"),
    ],
)
def test_little_traffic_tells_nothing(traffic: list[Served], reason: str) -> None:
    """No class, one class, a class of few requests, intervals that are wide: not enough data."""
    advice = advise_classes(traffic, 0)

    assert advice.split is Split.NOT_ENOUGH_DATA
    assert reason in advice.reason


def test_deadlines_are_compared_where_every_caller_gave_one() -> None:
    """A class that waits less differs though its requests are as hard."""
    traffic = [
        Served(
            service_class=name,
            task="sort",
            difficulty=1.0 + 0.1 * (place % 7),
            seconds=1.0 + 0.1 * (place % 5),
            deadline_s=deadline + 0.01 * (place % 3),
        )
        for name, deadline in (("batch", 60.0), ("interactive", 2.0))
        for place in range(200)
    ]

    assert "interactive in deadline" in advise_classes(traffic, 0).reason


def test_it_is_shown_and_told() -> None:
    """A line a class and need under the verdict, and the same as JSON."""
    advice = advise_classes([*served("batch", 200, mean=2.0), *served("interactive", 200)], 0)
    console = Console(file=io.StringIO(), width=160)
    console.print(class_table(advice))
    assert isinstance(console.file, io.StringIO)

    assert "service classes: classes" in console.file.getvalue()
    assert len(orjson.loads(orjson.dumps(class_json(advice)))["contrasts"]) == 4


def test_records_are_read(tmp_path: Path) -> None:
    """A JSON object a line; a deadline may be left out."""
    path = tmp_path / "traffic.jsonl"
    path.write_bytes(b'{"service_class":"batch","task":"sort","difficulty":1.5,"seconds":0.25}\n')

    assert read_traffic(path) == (
        Served(service_class="batch", task="sort", difficulty=1.5, seconds=0.25, deadline_s=None),
    )


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"[]",
        b'{"service_class":"batch","task":"sort","difficulty":1.5}',
        b'{"service_class":"batch","task":"sort","difficulty":1.5,"seconds":-1}',
        b'{"service_class":"batch","task":"sort","difficulty":1.5,"seconds":1,"colour":1}',
        b'{"service_class":"batch","task":"sort","difficulty":1.5,"seconds":1,"deadline_s":0}',
    ],
)
def test_other_lines_are_refused(tmp_path: Path, line: bytes) -> None:
    """The message names the line."""
    path = tmp_path / "traffic.jsonl"
    path.write_bytes(b'{"service_class":"batch","task":"sort","difficulty":1.5,"seconds":1}\n' + line)
    with pytest.raises(CurveFileError, match="line 2"):
        read_traffic(path)


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    """It is named."""
    with pytest.raises(CurveFileError, match=r"none\.jsonl"):
        read_traffic(tmp_path / "none.jsonl")
