"""Behaviour of ``unmask tune``."""

import json
import sys
from pathlib import Path

import pytest

from tests.cli.terminal import Ended, type_in
from tests.tune.synthetic import records_of
from unmask.control.classify import read_reliability
from unmask.control.estimator_file import read_estimator
from unmask.tasks.item import Split
from unmask.tasks.registry import all_tasks
from unmask.tune.item_runs import write_runs

SPLITS = (Split.TUNE, Split.CALIBRATE, Split.TEST)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with runs of each split: enough to train on, and to calibrate at a loose alpha."""
    folder = tmp_path_factory.mktemp("runs")
    for split in SPLITS:
        count = 1000 if split is Split.CALIBRATE else 60
        write_runs(folder / split, records_of(split, count), model="tiny", model_digest="m")
    for name, split, count in (("small", Split.TUNE, 40), ("small-calibrate", Split.CALIBRATE, 20)):
        write_runs(folder / name, records_of(split, count), model="tiny", model_digest="m")
    return folder


def difficulty(folder: Path, *argv: str, **files: str) -> Ended:
    """Run ``unmask tune difficulty`` on the files of a folder."""
    named = {split.value: split.value for split in SPLITS} | files
    options = [part for split, name in named.items() for part in (f"--{split}", str(folder / name))]
    return type_in("tune", "difficulty", *options, "--out", str(folder / "difficulty.json"), *argv)


def test_difficulty_writes_an_estimator_and_a_report(folder: Path) -> None:
    """One JSON object with shifts, losses and steps saved; the estimator is named in it by its digest."""
    ended = difficulty(folder, "--alpha", "0.05", "--json")
    assert ended.code == 0, ended.err
    report = json.loads(ended.out)
    (task,) = report["tasks"]

    assert read_estimator(folder / "difficulty.json", model_digest="m").digest == report["estimator"]
    assert report["buckets"] == {"XS": 2, "S": 4, "M": 8, "L": 16, "XL": 32}
    assert report["median_cost_us"] > 0
    assert (task["floor"], task["ceiling"], task["alpha"]) == (1, 32, 0.05)
    assert task["calibration"]["taken"]["upper"] <= 0.05
    assert task["shift"] == task["calibration"]["taken"]["shift"]
    assert set(task["test"]["steps_saved"]) == {"estimate", "low", "high"}
    assert "sort: shift" in ended.err


def test_difficulty_for_people_is_a_table(folder: Path) -> None:
    """Losses and steps saved, and what an estimate costs."""
    ended = difficulty(folder, "--alpha", "0.05", "--limits", "sort=2:16", tune="small")

    assert ended.code == 0
    assert "mean steps" in ended.out
    assert "µs a request" in ended.err


@pytest.mark.parametrize("argv", [(), ("--json",)])
def test_too_few_items_are_3(folder: Path, argv: tuple[str, ...]) -> None:
    """Where no task type has enough data all stay at their ceiling, and a script learns that."""
    ended = difficulty(folder, *argv, tune="small", calibrate="small-calibrate")

    assert ended.code == 3
    assert "20 items, at least 1000 needed" in ended.err
    if argv:
        (task,) = json.loads(ended.out)["tasks"]
        assert (task["shift"], task["test"]) == (None, None)
    else:
        assert "ceiling" in ended.out


@pytest.mark.parametrize(
    ("argv", "reason"),
    [
        (("--alpha", "0"), "between 0 and 1"),
        (("--alpha", "2"), "at most 1"),
        (("--limits", "sort"), "TASK=FLOOR:CEILING"),
        (("--limits", "sort=4:2"), "TASK=FLOOR:CEILING"),
        (("--limits", "latin=1:4"), "names latin, allowed: sort"),
        (("--buckets", "4", "2"), "rising"),
        (("--buckets", "1", "2", "3", "4", "5", "6"), "at most 5"),
        (("--seed", "-1"), "whole number"),
    ],
)
def test_wrong_options_are_2(
    folder: Path, argv: tuple[str, ...], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Wrong usage says what is allowed."""
    ended = difficulty(folder, *argv)

    assert ended.code == 2
    assert reason in ended.err + capsys.readouterr().err


def test_swapped_files_are_refused(folder: Path) -> None:
    """The test split is never calibrated on by mistake."""
    ended = difficulty(folder, calibrate="test")

    assert ended.code == 3
    assert "of the split test, allowed: calibrate" in ended.err


def test_missing_scikit_learn_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says what to install; measuring the classifier goes without."""
    for name in [name for name in sys.modules if name.startswith(("sklearn", "unmask.tune"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    ended = difficulty(folder)

    assert ended.code == 3
    assert "pip install '.[tune]'" in ended.err
    assert type_in("tune", "classifier", "--items", "10", "--json").code == 0


def test_classifier_is_measured(tmp_path: Path) -> None:
    """Rows for every kind of prompt; the reliability can be kept."""
    path = tmp_path / "classifier.json"
    ended = type_in("tune", "classifier", "--items", "10", "--out", str(path), "--json")
    report = json.loads(ended.out)
    table = type_in("tune", "classifier", "--items", "10")

    assert ended.code == 0
    assert {row["task"] for row in report["rows"]} == {*all_tasks(), "default"}
    assert {task: found.right for task, found in read_reliability(path).items()} == {
        task: found["right"] for task, found in report["reliability"].items()
    }
    assert "mixture" in table.out
    assert "sort: right 10 of the 10" in table.err


@pytest.mark.parametrize("argv", [("classifier", "--items", "9"), (), ("poem",)])
def test_bad_usage_is_2(argv: tuple[str, ...]) -> None:
    """Too few prompts, no part, an unknown part."""
    assert type_in("tune", *argv).code == 2


@pytest.mark.parametrize(
    "option", ["--tune", "--calibrate", "--test", "--out", "--alpha", "--buckets", "--limits", "--items"]
)
def test_options_are_documented(option: str) -> None:
    """The page of the commands names them all."""
    text = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")

    assert "unmask tune difficulty" in text
    assert f"`{option}" in text
