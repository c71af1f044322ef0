"""Behaviour of `unmask.cli.entry` and the grammar behind it."""

import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import pytest

from tests.cli.terminal import type_in
from unmask.backend import Backend
from unmask.cli.entry import main
from unmask.cli.exits import Exit, UsageError, exit_of
from unmask.cli.parser import build_parser
from unmask.config import Settings
from unmask.errors import (
    CheckpointError,
    ConfigError,
    DrainingError,
    InvalidRequestError,
    QueueFullError,
    UnknownModelError,
    UnmaskError,
    WeightsError,
)
from unmask.policy.errors import PolicyActError, PolicyStoreError, PolicyTamperedError, UnknownPolicyError

COMMANDS = (
    "serve",
    "config",
    "generate",
    "examples",
    "models",
    "policy",
    "policy show",
    "policy submit",
    "controls",
    "train",
    "bench",
)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("x"), Exit.USAGE),
        (InvalidRequestError("p", 1, "2", "Fix."), Exit.USAGE),
        (UnknownModelError("x", ()), Exit.USAGE),
        (ConfigError("x"), Exit.USAGE),
        (WeightsError("x"), Exit.WEIGHTS),
        (CheckpointError("x"), Exit.CANNOT_RUN),
        (QueueFullError("x"), Exit.CANNOT_RUN),
        (DrainingError("x"), Exit.CANNOT_RUN),
        (PolicyActError("x"), Exit.USAGE),
        (UnknownPolicyError("x"), Exit.USAGE),
        (PolicyTamperedError("x"), Exit.CANNOT_RUN),
        (PolicyStoreError("x"), Exit.CANNOT_RUN),
        (UnmaskError("x"), Exit.CANNOT_RUN),
    ],
)
def test_error_has_its_exit_code(error: UnmaskError, code: Exit) -> None:
    """A script learns from the code whose fault it was."""
    assert exit_of(error) is code


@pytest.mark.parametrize("command", ["", *COMMANDS, "policy show", "policy submit"])
def test_help_explains_the_exit_codes(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Every help page ends well and lists the codes."""
    assert type_in(*command.split(), "--help").code == 0

    text = capsys.readouterr().out
    assert all(f"  {code.value} " in text for code in Exit)


@pytest.mark.parametrize(
    "argv", [(), ("dance",), ("train",), ("train", "huge"), ("bench", "other"), ("policy",), ("policy", "x")]
)
def test_wrong_command_is_2(argv: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """A command line that makes no sense ends with 2 and the usage."""
    assert type_in(*argv).code == 2
    assert "usage:" in capsys.readouterr().err


def test_error_is_one_line() -> None:
    """An error is told in one line, without a traceback, and stdout stays empty."""

    def broken(_: Settings) -> Backend:
        raise WeightsError("weights are\n  damaged")

    ended = type_in("generate", "x", make_backend=broken)

    assert ended.code == 4
    assert ended.err.splitlines()[-1] == "unmask generate: weights are damaged"
    assert ended.out == ""


def test_train_is_parsed() -> None:
    """All that training needs is in the arguments."""
    given = ["train", "nano", "--minutes", "2.5", "--steps", "10", "--resume", "--folder", "runs/x", "--seed", "3"]

    assert build_parser().parse_args([*given, "--json", "--weights", "w.safetensors"]) == Namespace(
        command="train",
        name="nano",
        minutes=2.5,
        steps=10,
        resume=True,
        weights=Path("w.safetensors"),
        folder=Path("runs/x"),
        seed=3,
        json=True,
    )


def test_bench_is_parsed() -> None:
    """All that measuring needs is in the arguments; no name means all."""
    bare = build_parser().parse_args(["bench"])
    full = build_parser().parse_args(
        ["bench", "engine", "--precision", "bfloat16", "--json", "--quick", "--seed", "4", "--records", "r.jsonl"]
    )
    expected = Namespace(
        command="bench",
        name="all",
        model="tiny",
        precision="float32",
        json=False,
        quick=False,
        seed=0,
        records=None,
        policy=None,
        policy_dir=None,
        curves=None,
        look_seed=None,
        folder=None,
        report=None,
        row=None,
        checkpoint=None,
        approximate_cache=None,
        approximate_cache_refresh=None,
        items=None,
        steps=None,
    )

    assert bare == expected
    assert vars(full) == {
        **vars(expected),
        "name": "engine",
        "precision": "bfloat16",
        "json": True,
        "quick": True,
        "seed": 4,
        "records": Path("r.jsonl"),
    }


def test_serve_refuses_other_hosts() -> None:
    """Only this machine may be served, and the message says why."""
    ended = type_in("serve", "--host", "0.0.0.0")  # noqa: S104 - refused

    assert ended.code == 2
    assert "Without keys everyone who reaches another address could use the server" in ended.err


def test_serve_tells_mistakes_of_its_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything starts, wherever the mistake stands: in the file of the folder, the environment or an option."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "unmask.toml").write_text("prot = 1\n", encoding="utf-8")
    in_file = type_in("serve")
    (tmp_path / "unmask.toml").unlink()
    monkeypatch.setenv("UNMASK_PORT", "x")
    in_environment = type_in("serve")
    in_option = type_in("serve", "--port", "99999")

    assert [ended.code for ended in (in_file, in_environment, in_option)] == [2, 2, 2]
    assert in_file.err.startswith("unmask serve: unmask.toml line 1: 'prot' is no setting, did you mean port?")
    assert in_environment.err.startswith("unmask serve: UNMASK_PORT: port is 'x', allowed: ")
    assert in_option.err.startswith("unmask serve: --port: port is 99999, allowed: ")


def test_serve_says_which_file_it_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that was merely there is no surprise, and what it sets is served."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "unmask.yaml").write_text("port: 0\nmodels: [nano]\n", encoding="utf-8")
    served: list[Settings] = []

    def broken(settings: Settings) -> Backend:
        served.append(settings)
        raise WeightsError("none")

    ended = type_in("serve", "--model", "tiny", make_backend=broken)

    assert ended.err.splitlines()[0] == "settings from unmask.yaml"
    assert served == [Settings(port=0, models=("tiny",))]


def test_help_is_quick() -> None:
    """What takes long to import is left to the commands that need it."""
    program = (
        "import sys; from unmask.cli.entry import main; main(['serve', '--help']); "
        "print({name.partition('.')[0] for name in sys.modules} & {'fastapi', 'numpy', 'pydantic', 'torch'})"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)

    assert done.stdout.splitlines()[-1] == "set()"


def test_reader_that_has_seen_enough_is_no_error() -> None:
    """``unmask examples | head -1`` ends without a traceback."""
    command = f"{sys.executable} -m unmask.cli examples --json | head -1"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False, timeout=60)

    assert done.stdout == "{\n"
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


def test_an_option_that_does_not_exist_is_answered_with_those_that_do(capsys: pytest.CaptureFixture[str]) -> None:
    """The usage is that of the command, not that of all commands."""
    ended = type_in("keys", "limit", "aaaaaaaaaaaa", "--limit", "requests=1/1m")
    err = capsys.readouterr().err

    assert ended.code == 2
    assert "usage: unmask keys limit" in err
    assert "unrecognized arguments: --limit" in err


def test_a_gate_that_breaks_gives_no_verdict(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What nobody foresaw ends a gate with 3 and the traceback; Python's own 1 would read as FAIL."""

    def broken(*_: object) -> int:
        raise RuntimeError("nobody foresaw this")

    monkeypatch.setattr("unmask.cli.gate.run_gate", broken)
    monkeypatch.setattr("unmask.cli.models.run_models", broken)

    assert main(["gate", "suite", "example"]) == 3
    assert "nobody foresaw this" in capsys.readouterr().err
    assert main(["models"]) == 1


def test_a_gate_whose_reader_left_gives_no_verdict() -> None:
    """``unmask gate decide … | true`` ends with 3: rich would end it with 1, which reads as FAIL."""
    for command, code in (("gate suite example", 3), ("models", 0)):
        process = subprocess.Popen(
            [sys.executable, "-m", "unmask.cli", *command.split()], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait(60) == code


def test_every_fault_of_a_file_has_its_line(tmp_path: Path) -> None:
    """A suite with three faults is told in a heading and three lines that editors jump to."""
    suite = tmp_path / "suite.yaml"
    suite.write_text("id: x\nfamily: x\nworlds: [nowhere]\nscenarios: []\n", encoding="utf-8")

    ended = type_in("gate", "suite", str(suite))

    assert ended.code == 3
    heading, *faults = ended.err.splitlines()
    assert heading == f"unmask gate: {suite} is no suite, {len(faults)} to mend:"
    assert {fault.partition(": ")[0] for fault in faults} >= {"suite.yaml:3", "nowhere:1"}
