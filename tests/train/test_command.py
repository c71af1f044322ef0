"""The ``unmask train`` command."""

import argparse
import json
import signal
import threading
from pathlib import Path
from typing import Self

import pytest

from tests.train.small import small_recipe
from unmask.engine.weights import load_weights
from unmask.errors import CheckpointError, ConfigError
from unmask.tasks.registry import all_tasks
from unmask.train import command
from unmask.train.display import make_display
from unmask.train.loop import Report

FILES = ("model.safetensors", "model-card.md", "loss.png", "accuracy.png")


def arguments(folder: Path, **changes: object) -> argparse.Namespace:
    """Return what the command line gives for two steps."""
    given = {"name": "nano", "minutes": 1.0, "steps": 2, "folder": folder, "seed": 1}
    given |= {"resume": False, "weights": None, "json": False}
    return argparse.Namespace(**{**given, **changes})


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Train the small recipe whatever is named."""
    monkeypatch.setattr(command, "recipe", lambda _name, seed: small_recipe(seed))


def test_a_run_leaves_weights_pictures_and_a_card(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What was made is named on stdout, one path a line, and can be used; the table goes to stderr."""
    assert command.run(arguments(tmp_path)) == 0
    out, err = capsys.readouterr()
    assert out.splitlines() == [str(tmp_path / name) for name in FILES]
    assert all((tmp_path / name).stat().st_size > 0 for name in FILES)
    assert load_weights(tmp_path / "model.safetensors").name == "nano"
    assert "masked right" in err
    assert "\x1b" not in err


def test_json_is_all_that_stdout_holds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With ``--json`` stdout is one object: what was trained, how far, how well, and where it is."""
    assert command.run(arguments(tmp_path, json=True, seed=5)) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["model"] == "nano"
    assert (summary["seed"], summary["steps"]) == (5, 2)
    assert summary["digest"] == load_weights(tmp_path / "model.safetensors").digest
    assert summary["files"] == [str(tmp_path / name) for name in FILES]
    assert {row["task"] for row in summary["tasks"]} >= set(all_tasks())


def test_without_matplotlib_there_are_no_pictures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Pictures are an extra: the run is whole without them, and says what is missing."""
    monkeypatch.setattr(command, "find_spec", lambda _name: None)
    assert command.run(arguments(tmp_path, steps=1)) == 0
    out, err = capsys.readouterr()
    assert out.splitlines() == [str(tmp_path / name) for name in FILES[:2]]
    assert "matplotlib is not installed" in err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_can_go_on(
    number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C or a termination ends the run after the step at hand, saved; a resume finishes it."""

    class Interrupted:
        """A display whose user has had enough after the first step."""

        def __init__(self, *arguments: object) -> None:
            """Take what a display is made of."""

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_reason: object) -> None:
            pass

        def report(self, report: Report) -> None:
            if report.progress.step == 1:
                signal.raise_signal(number)

    before = signal.getsignal(number)
    monkeypatch.setattr(command, "make_display", Interrupted)
    assert command.run(arguments(tmp_path, steps=3)) == command.INTERRUPTED
    out, err = capsys.readouterr()
    assert out == ""
    assert "stopped after step 1; go on with --resume" in err
    assert not (tmp_path / "model.safetensors").exists()
    assert signal.getsignal(number) is before
    monkeypatch.setattr(command, "make_display", make_display)
    assert command.run(arguments(tmp_path, steps=3, resume=True, json=True)) == 0
    assert json.loads(capsys.readouterr().out)["steps"] == 3


@pytest.mark.parametrize(
    ("changes", "param"),
    [
        ({"steps": 0}, "steps"),
        ({"steps": None, "minutes": 0.0}, "minutes"),
        ({"steps": None, "minutes": -1}, "minutes"),
    ],
)
def test_lengths_that_make_no_sense_are_refused(changes: dict[str, object], param: str, tmp_path: Path) -> None:
    """The message names the value and what is allowed."""
    with pytest.raises(ConfigError, match="allowed") as caught:
        command.run(arguments(tmp_path, **changes))
    assert caught.value.param == param


def test_a_card_that_cannot_be_written_is_a_checkpoint_error(tmp_path: Path) -> None:
    """A folder that stands where the card should be is an error that names it."""
    (tmp_path / "model-card.md").mkdir()
    with pytest.raises(CheckpointError, match=r"model-card\.md"):
        command.run(arguments(tmp_path, steps=1))


def test_it_runs_outside_the_main_thread(tmp_path: Path) -> None:
    """Only the main thread may handle signals; elsewhere a run simply cannot be stopped by one."""
    codes: list[int] = []
    thread = threading.Thread(target=lambda: codes.append(command.run(arguments(tmp_path, steps=1))))
    thread.start()
    thread.join()
    assert codes == [0]


def test_short_runs_are_not_compiled(tmp_path: Path) -> None:
    """Compiling takes longer than it saves in a run of few steps or minutes."""
    plans = [
        command._plan(arguments(tmp_path, **changes))
        for changes in ({"steps": 10}, {"steps": None, "minutes": 5.0}, {"steps": 10, "minutes": 500.0})
    ]
    assert not any(plan.compiled for plan in plans)
