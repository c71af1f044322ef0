"""Behaviour of `unmask.cli.entry` and the grammar behind it."""

import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import pytest

from tests.cli.terminal import type_in
from unmask.backend import Backend
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

COMMANDS = ("serve", "generate", "examples", "models", "train", "bench")


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
        (UnmaskError("x"), Exit.CANNOT_RUN),
    ],
)
def test_error_has_its_exit_code(error: UnmaskError, code: Exit) -> None:
    """A script learns from the code whose fault it was."""
    assert exit_of(error) is code


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_explains_the_exit_codes(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Every help page ends well and lists the codes."""
    assert type_in(*command.split(), "--help").code == 0

    text = capsys.readouterr().out
    assert all(f"  {code.value} " in text for code in Exit)


@pytest.mark.parametrize("argv", [(), ("dance",), ("train",), ("train", "huge"), ("bench", "other")])
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
    assert "keys do not exist yet" in ended.err


def test_serve_options_win_over_the_file(tmp_path: Path) -> None:
    """A file sets what the command line leaves open; its mistakes are told before anything starts."""
    path = tmp_path / "s.yaml"
    path.write_text("host: 0.0.0.0\nport: 1\n", encoding="utf-8")
    refused = type_in("serve", "--config", str(path))
    path.write_text("prot: 1\n", encoding="utf-8")
    unknown = type_in("serve", "--config", str(path))

    assert (refused.code, unknown.code) == (2, 2)
    assert "'prot' is no setting" in unknown.err


def test_reader_that_has_seen_enough_is_no_error() -> None:
    """``unmask examples | head -1`` ends without a traceback."""
    command = f"{sys.executable} -m unmask.cli examples --json | head -1"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False, timeout=60)

    assert done.stdout == "{\n"
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr
