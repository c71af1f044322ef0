"""Behaviour of ``unmask tune finality``, ``unmask tune exit`` and ``unmask tune replay``."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.terminal import Ended, type_in
from tests.tune.test_replaying import control
from tests.tune.traced import MODEL, TASK, Behaviour, TracedBackend
from unmask.app.local import local_backend
from unmask.cli.tuning import EXITS, RUNS
from unmask.control.records import RecordFolder
from unmask.policy.digest import policy_digest
from unmask.policy.file import policy_text
from unmask.policy.finality_file import read_finality
from unmask.policy.parts import canonical_part
from unmask.policy.policy import ExitPolicy, Policy
from unmask.policy.replay import read_replay
from unmask.strategy import StrategyChoice, StrategyName
from unmask.testing.budget_policies import make_policy, make_task_policy
from unmask.testing.exits import make_rule
from unmask.tune.exit_file import read_exits
from unmask.types import ExitRule

LIMITS = ("--misjudgement-limit", "0.2", "--quality-limit", "0.2")
HASTY = StrategyChoice(name=StrategyName.CONFIDENCE_THRESHOLD, threshold=0.9)


def exits(folder: Path, *argv: str, backend: TracedBackend | None = None) -> Ended:
    """Run ``unmask tune exit`` on forty items."""
    options = ("--task", TASK, "--items", "40", "--calibrate-items", "40", *LIMITS, "--folder", str(folder))
    return type_in("tune", "exit", *options, *argv, backend=backend or TracedBackend())


def test_exits_are_tuned_shown_and_kept(tmp_path: Path) -> None:
    """Tables to stdout, progress and what is needed to stderr; runs, result and a picture in the folder."""
    ended = exits(tmp_path)
    extras = read_exits(tmp_path / EXITS, model=MODEL.name, model_digest=MODEL.digest)

    assert ended.code == 0, ended.err
    assert "chosen" in ended.out
    assert "enabled" in ended.out
    assert "would-exit controls needed" in ended.err
    assert sorted(path.name for path in tmp_path.iterdir()) == [EXITS, RUNS, f"{TASK}.svg"]
    assert extras.exits[TASK].enabled


def test_a_killed_search_goes_on(tmp_path: Path) -> None:
    """Runs that are there are not made again."""
    exits(tmp_path)
    again = TracedBackend()
    ended = exits(tmp_path, "--json", backend=again)

    assert json.loads(ended.out)["tasks"][TASK]["exit"]["enabled"]
    assert again.requests == []
    assert again.open == 0
    assert "are there already" in ended.err


def test_finality_is_trained_and_tried(tmp_path: Path) -> None:
    """The file is a learned part, and the search takes its digest along."""
    path = tmp_path / "finality.json"
    argv = ("tune", "finality", "--task", TASK, "--items", "30", "--out", str(path))
    backend = TracedBackend(Behaviour(early_wrong=3))
    ended, plain = type_in(*argv, "--json", backend=backend), type_in(*argv, backend=backend)
    report = json.loads(ended.out)
    tuned = exits(tmp_path / "exits", "--finality", str(path), "--json")

    assert ended.code == 0, ended.err
    assert report["finality"] == canonical_part(path.read_bytes())[0]
    assert report["finality"].startswith(read_finality(path.read_bytes()).version)
    assert set(report["log_loss"]) == {"model", "confidence", "rescaled"}
    assert "AUC" in plain.out
    assert json.loads(tuned.out)["tasks"][TASK]["finality"] == report["finality"]


def test_ceilings_are_those_of_a_policy(tmp_path: Path) -> None:
    """Of these very weights; otherwise each canvas may take all its steps."""
    policy = policy_of(make_rule())
    path = tmp_path / "policy.yaml"
    path.write_text(policy_text(policy))
    backend = TracedBackend()
    ended = exits(tmp_path / "kept", "--policy", str(path), backend=backend)
    path.write_text(policy_text(replace(policy, model_digest="f" * 16)))
    refused = exits(tmp_path / "other", "--policy", str(path))

    assert ended.code == 0, ended.err
    assert {request.budget and request.budget.max_steps for request in backend.requests} == {policy.task(TASK).ceiling}
    assert (refused.code, "these weights" in refused.err) == (2, True)


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("--task", "poetry"), "allowed"),
        (("--canvas-length", "7"), "--canvas-length"),
        (("--model", "huge"), "huge"),
        (("--quality-limit", "0"), "between 0 and 1"),
        (("--finality", "none.json"), "none.json"),
        (("--items", "1"), "whole number from 10"),
    ],
)
def test_wrong_arguments_are_2(
    tmp_path: Path, argv: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is written."""
    ended = exits(tmp_path / "kept", *argv)

    assert ended.code == 2
    assert message in ended.err + capsys.readouterr().err
    assert not (tmp_path / "kept").exists()


def policy_of(rule: ExitRule) -> Policy:
    """Return a policy of the fake's weights with an exit rule."""
    found = ExitPolicy(rule=rule, enabled=True, misjudgement_limit=0.01)
    entry = make_task_policy(TASK, ceiling=8, exit=found, strategy=HASTY)
    base = make_policy(model=MODEL.name, model_digest=MODEL.digest)
    return replace(base, tasks=(entry, *(task for task in base.tasks if task.task != TASK)))


@pytest.fixture(name="replayable")
def _replayable(tmp_path: Path) -> tuple[Path, tuple[str, ...]]:
    """Return a folder with thirty controls of an old policy, and the arguments that replay a new one on them."""
    old, new = policy_of(make_rule()), policy_of(make_rule(flips=1.0))
    for name, policy in (("old", old), ("new", new)):
        (tmp_path / f"{name}.yaml").write_text(policy_text(policy))
    records = RecordFolder(tmp_path / "controls")
    for number in range(30):
        records.add(replace(control(number, make_rule(), Behaviour()), policy=policy_digest(old)))
    files = ("--old", str(tmp_path / "old.yaml"), "--new", str(tmp_path / "new.yaml"), "--out")
    return tmp_path, (*files, str(tmp_path / "replay.json"), "--controls", str(tmp_path / "controls"))


def test_a_replay_is_what_submit_takes(replayable: tuple[Path, tuple[str, ...]]) -> None:
    """Of both digests, on the controls of the old policy."""
    folder, argv = replayable
    ended = type_in("tune", "replay", *argv, "--policy-dir", str(folder / "policies"), backend=TracedBackend())
    found = read_replay(folder / "replay.json")

    assert ended.code == 0, ended.err
    assert [(task.task, task.controls, task.new_misjudged) for task in found.tasks] == [(TASK, 30, 0)]
    assert found.tasks[0].steps.estimate == -1.0
    assert "submit --replay" in ended.err


def test_no_controls_are_no_evidence(replayable: tuple[Path, tuple[str, ...]]) -> None:
    """Exit code 3, and no file."""
    folder, argv = replayable
    empty = (*argv[:-1], str(folder / "none"), "--policy-dir", str(folder / "policies"), "--json")
    ended = type_in("tune", "replay", *empty, backend=TracedBackend())

    assert ended.code == 3
    assert json.loads(ended.out)["tasks"] == []
    assert not (folder / "replay.json").exists()


def test_a_real_model_is_tuned(tmp_path: Path) -> None:
    """The smallest model in the package, from traces to a result: too few items enable nothing."""
    ended = type_in(
        *("tune", "exit", "--model", "nano", "--task", "lookup", "--items", "10", "--calibrate-items", "10"),
        *("--folder", str(tmp_path), "--quality-limit", "0.9", "--json"),
        make_backend=local_backend,
    )
    report = json.loads(ended.out)["tasks"]["lookup"]

    assert ended.code == 0, ended.err
    assert not report["exit"]["enabled"]
    assert 1 <= len(report["candidates"]) <= 12
