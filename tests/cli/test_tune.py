"""Behaviour of ``unmask tune``."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.terminal import Ended, type_in
from tests.tune.synthetic import curves_of
from unmask.control.classify import read_reliability
from unmask.policy.file import policy_text
from unmask.strategy import StrategyChoice, StrategyName
from unmask.tasks.item import Split
from unmask.tasks.registry import all_tasks
from unmask.testing.budget_policies import make_policy, make_task_policy
from unmask.testing.fake_backend import FakeBackend
from unmask.tune.curve import CurveSet
from unmask.tune.curve_file import read_curves, write_curves
from unmask.tune.difficulty_file import read_difficulty
from unmask.tune.difficulty_run import planned
from unmask.tune.run import CURVES

SPLITS = (Split.TUNE, Split.CALIBRATE, Split.TEST)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with curves of each split: enough to train on, and to calibrate at a loose alpha."""
    folder = tmp_path_factory.mktemp("runs")
    for split in SPLITS:
        keep(folder / split, curves_of(split, 1000 if split is Split.CALIBRATE else 110))
    keep(folder / "small-calibrate", curves_of(Split.CALIBRATE, 20))
    keep(folder / "foreign", curves_of(Split.TUNE, 20, digest="f" * 16))
    return folder


def keep(folder: Path, curves: CurveSet) -> None:
    """Write curves as a run keeps them."""
    folder.mkdir()
    write_curves(folder / CURVES, curves)


def difficulty(folder: Path, *argv: str, **files: str) -> Ended:
    """Run ``unmask tune difficulty`` on the curves of a folder."""
    named = {split.value: split.value for split in SPLITS} | files
    options = [part for split, name in named.items() for part in (f"--{split}", str(folder / name))]
    return type_in("tune", "difficulty", *options, "--out", str(folder / "difficulty.json"), *argv)


def test_difficulty_writes_an_estimator_and_a_report(folder: Path) -> None:
    """One JSON object with shifts, losses and steps saved; the file has the estimator too, named by its digest."""
    ended = difficulty(folder, "--alpha", "0.05", "--json")
    assert ended.code == 0, ended.err
    report = json.loads(ended.out)
    (task,) = report["tasks"]
    kept = read_difficulty(folder / "difficulty.json")

    assert kept.estimator.digest == kept.calibrated.digest == report["estimator"]
    assert kept.estimator.model_digest == "0123456789abcdef"
    assert kept.calibrated.tasks["sort"].shift == task["shift"]
    assert report["median_cost_us"] > 0
    assert task["alpha"] == 0.05
    assert task["calibration"]["taken"]["upper"] <= 0.05
    assert task["shift"] == task["calibration"]["taken"]["shift"]
    assert set(task["test"]["steps_saved"]) == {"estimate", "low", "high"}
    assert "sort: shift" in ended.err


def test_difficulty_is_for_the_budgets_that_its_curves_propose(folder: Path) -> None:
    """Unless told otherwise, so that its shifts hold for that proposal; options come before them."""
    plain, told = (
        difficulty(folder, "--json", *argv) for argv in ((), ("--buckets", "2", "16", "--limits", "sort=2:16"))
    )
    model = FakeBackend().models()[0]
    proposed = planned(read_curves(folder / "tune" / CURVES), model)

    assert json.loads(plain.out)["buckets"] == {entry.bucket: entry.max_steps for entry in proposed.buckets}
    assert json.loads(plain.out)["tasks"][0]["ceiling"] == proposed.entries[0].ceiling
    assert json.loads(told.out)["buckets"] == {"XS": 2, "S": 16}
    assert (json.loads(told.out)["tasks"][0]["floor"], json.loads(told.out)["tasks"][0]["ceiling"]) == (2, 16)


def test_difficulty_may_be_for_a_policy(folder: Path, tmp_path: Path) -> None:
    """Its buckets, limits and alpha; a policy of another strategy, or of other weights, is refused."""
    entry = make_task_policy("sort", floor=4, ceiling=16, alpha=0.03)
    policies = {
        "fits": make_policy(tasks=(make_task_policy(), entry)),
        "klass": make_policy(
            tasks=(make_task_policy(), replace(entry, strategy=StrategyChoice(name=StrategyName.KLASS)))
        ),
        "other": make_policy(model_digest="f" * 16),
        "lacking": make_policy(tasks=(make_task_policy(),)),
    }
    for name, policy in policies.items():
        (tmp_path / name).write_text(policy_text(policy))
    ended = {name: difficulty(folder, "--json", "--policy", str(tmp_path / name)) for name in policies}
    (task,) = json.loads(ended["fits"].out)["tasks"]

    assert (task["floor"], task["ceiling"], task["alpha"]) == (4, 16, 0.03)
    assert (ended["klass"].code, "one strategy" in ended["klass"].err) == (3, True)
    assert (ended["other"].code, "of weights ffff" in ended["other"].err) == (2, True)
    assert (ended["lacking"].code, "runs of sort" in ended["lacking"].err) == (3, True)


def test_difficulty_for_people_is_a_table(folder: Path) -> None:
    """Losses and steps saved, and what an estimate costs."""
    ended = difficulty(folder, "--alpha", "0.05", "--limits", "sort=2:16")

    assert ended.code == 0
    assert "mean steps" in ended.out
    assert "µs a request" in ended.err


def test_curves_of_other_weights_are_refused(folder: Path) -> None:
    """What one model needs says nothing of another."""
    ended = difficulty(folder, tune="foreign")

    assert (ended.code, "unmask curve --model tiny" in ended.err) == (3, True)


@pytest.mark.parametrize("argv", [(), ("--json",)])
def test_too_few_items_are_3(folder: Path, argv: tuple[str, ...]) -> None:
    """Where no task type has enough data all stay at their ceiling, and a script learns that."""
    ended = difficulty(folder, *argv, calibrate="small-calibrate")

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


def test_swapped_curves_are_refused(folder: Path) -> None:
    """The test split is never calibrated on by mistake."""
    ended = difficulty(folder, calibrate="test")

    assert ended.code == 3
    assert "of the split test, allowed: calibrate" in ended.err


def test_missing_scikit_learn_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says what to install; measuring the classifier goes without."""
    for name in [name for name in sys.modules if name.startswith(("sklearn", "unmask.tune", "unmask.cli.difficulty"))]:
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
    "option", ["--tune", "--calibrate", "--test", "--out", "--policy", "--alpha", "--buckets", "--limits", "--items"]
)
def test_options_are_documented(option: str) -> None:
    """The page of the commands names them all."""
    text = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")

    assert "unmask tune difficulty" in text
    assert f"`{option}" in text
