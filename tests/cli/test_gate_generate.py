"""``unmask gate generate``."""

import json
from pathlib import Path

import pytest

from tests.cli.terminal import Ended, type_in
from unmask.backend import Backend
from unmask.cli.entry import run
from unmask.cli.tools import system_tools
from unmask.config import Settings
from unmask.errors import QueueFullError
from unmask.gate.artefacts import RunFolder
from unmask.gate.response import SystemLabel
from unmask.testing.builders import make_model
from unmask.testing.fake_backend import FakeBackend
from unmask.types import Mode

SMALL = ("--seeds", "1", "--limit", "4", "--retrieval", "naive")


def ask(folder: Path, *more: str, backend: Backend | None = None) -> Ended:
    """Ask the example suite."""
    return type_in(
        "gate", "generate", "example", "--model", "tiny", "--out", str(folder), *SMALL, *more, backend=backend
    )


def test_answers_are_kept_with_what_they_are_of(tmp_path: Path) -> None:
    """The folder has the binding and an answer for each scenario, seed and system."""
    ended = ask(
        tmp_path / "run", "--against", "tiny", "--against-mode", "ar", "--steps", "5", "--json", "--retrieval", "typed"
    )

    assert ended.code == 0
    record = json.loads(ended.out)
    assert [(row["mode"], row["answers"], row["faults"]) for row in record["systems"]] == [
        ("diffusion", 4, 0),
        ("autoregressive", 4, 0),
    ]
    folder = RunFolder(str(tmp_path / "run"))
    binding = folder.binding()
    assert binding is not None
    assert [system.label for system in binding.systems] == [SystemLabel.MODEL, SystemLabel.AGAINST]
    assert "steps=5" in binding.systems[0].settings
    assert binding.retrieval.startswith("typed cards")
    assert len(folder.responses()) == 8


def test_a_run_is_gone_on_with_only_when_asked_to(tmp_path: Path) -> None:
    """A folder is not added to by accident; with --resume nothing is asked twice."""
    assert ask(tmp_path).code == 0
    refused = ask(tmp_path)
    backend = FakeBackend()
    resumed = ask(tmp_path, "--resume", backend=backend)

    assert refused.code == 3
    assert "go on with it by --resume" in refused.err
    assert resumed.code == 0
    assert backend.requests == []


def test_another_run_is_not_mixed_in(tmp_path: Path) -> None:
    """The refusal names what differs."""
    assert ask(tmp_path).code == 0
    ended = ask(tmp_path, "--resume", "--steps", "3")

    assert ended.code == 3
    assert "settings of model" in ended.err
    assert "not concurrency=8 max_tokens=default steps=3" in ended.err


def test_another_model_behind_the_name_is_another_run(tmp_path: Path) -> None:
    """New weights under an old name never add to old answers."""
    assert ask(tmp_path).code == 0
    ended = ask(tmp_path, "--resume", backend=FakeBackend(models=(make_model("tiny", digest="f" * 16),)))

    assert ended.code == 3


def test_faults_exit_with_3_and_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the infrastructure failed is neither PASS nor FAIL; the table counts it apart."""
    monkeypatch.setattr("unmask.gate.patience.Patience.pause_s", lambda *_: None)
    ended = ask(tmp_path, backend=FakeBackend(error=QueueFullError("full up")))

    assert ended.code == 3
    assert "fault: fact-valkel (seed 0, model): QueueFullError: full up" in ended.err
    assert "says nothing about the model" in ended.err


def test_interrupted_it_says_how_to_go_on(tmp_path: Path) -> None:
    """Ctrl-C ends with 130; what was answered is kept."""

    def interrupt(_: object) -> str:
        raise KeyboardInterrupt

    ended = ask(tmp_path, backend=FakeBackend(interrupt))

    assert ended.code == 130
    assert "answers are kept in" in ended.err
    assert "--resume" in ended.err


def test_it_warns_of_seeds_that_change_nothing(tmp_path: Path) -> None:
    """At temperature 0 three seeds of an embedded model are one."""
    argv = ("gate", "generate", "example", "--model", "tiny", "--limit", "1", "--retrieval", "naive")
    warned = type_in(*argv, "--out", str(tmp_path / "a"))
    drawn = type_in(*argv, "--temperature", "0.7", "--out", str(tmp_path / "b"))

    assert "answers every seed alike" in warned.err
    assert "alike" not in drawn.err


def test_an_unknown_model_is_refused(tmp_path: Path) -> None:
    """The message lists what there is."""
    ended = type_in("gate", "generate", "example", "--model", "huge", "--out", str(tmp_path))

    assert ended.code == 3
    assert "tiny" in ended.err


@pytest.mark.slow
def test_the_embedded_model_is_asked_to_its_end(tmp_path: Path) -> None:
    """Six scenarios are answered by real weights, by canvases and token by token, from the same prompts."""
    systems = ("--model", "nano", "--against", "nano", "--against-mode", "ar")
    sizes = ("--seeds", "1", "--limit", "6", "--max-tokens", "16", "--steps", "4")
    code = run(["gate", "generate", "example", *systems, *sizes, "--out", str(tmp_path), "--json"], system_tools)

    assert code == 0
    responses = RunFolder(str(tmp_path)).responses()
    assert len(responses) == 12
    prompts = {
        label: {
            response.key.scenario: response.turns[0].messages for response in responses if response.key.system is label
        }
        for label in SystemLabel
    }
    assert prompts[SystemLabel.MODEL] == prompts[SystemLabel.AGAINST]
    assert all(turn.output_tokens and turn.seconds > 0 for response in responses for turn in response.turns)
    binding = RunFolder(str(tmp_path)).binding()
    assert binding is not None
    assert {system.mode for system in binding.systems} == {Mode.DIFFUSION, Mode.AUTOREGRESSIVE}


def test_one_engine_serves_both_systems(tmp_path: Path) -> None:
    """Two modes of the same weights are loaded once."""
    made: list[Settings] = []

    def make(settings: Settings) -> Backend:
        made.append(settings)
        return FakeBackend()

    argv = ("gate", "generate", "example", "--model", "tiny", "--against", "tiny", "--against-mode", "ar")
    ended = type_in(*argv, *SMALL, "--out", str(tmp_path), make_backend=make)

    assert ended.code == 0
    assert [settings.models for settings in made] == [("tiny",)]
