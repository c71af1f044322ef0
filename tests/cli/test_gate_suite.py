"""``unmask gate suite``."""

import json
from pathlib import Path

import pytest

from tests.cli.terminal import type_in


def test_a_suite_is_checked_and_counted() -> None:
    """The shipped suite is named, and its kinds and clusters are counted."""
    ended = type_in("gate", "suite", "example")

    assert ended.code == 0
    assert "multi_turn" in ended.out
    assert "64 scenarios in 23 clusters" in ended.err


def test_a_made_up_suite_is_written_and_read(tmp_path: Path) -> None:
    """With --generate and a file, the suite and its worlds are there afterwards, and named by their digest."""
    path = tmp_path / "made.jsonl"
    made = type_in("gate", "suite", "--generate", "--seed", "3", "--worlds", "2", "--to", str(path), "--json")
    read = type_in("gate", "suite", str(path), "--json")

    assert made.code == read.code == 0
    record, again = json.loads(made.out), json.loads(read.out)
    assert record["written"] == str(path)
    assert record["scenarios"] == 120
    assert record["clusters"] == 24
    assert record["digest"] == again["digest"]


def test_every_fault_is_told_and_exits_with_3(tmp_path: Path) -> None:
    """A suite that cannot be used is no verdict: neither FAIL nor INCONCLUSIVE."""
    path = tmp_path / "suite.yaml"
    path.write_text("id: a\nfamily: a\nworlds: [example]\nscenarios: []\n", encoding="utf-8")
    ended = type_in("gate", "suite", str(path))

    assert ended.code == 3
    assert "suite.yaml:1: it has no scenarios" in ended.err


def test_one_cluster_is_warned_of(tmp_path: Path) -> None:
    """What cannot decide anything is said before it is asked."""
    path = tmp_path / "suite.yaml"
    path.write_text(
        "id: a\nfamily: a\nworlds: [example]\nscenarios:\n- {id: a, world: example, language: en, kind: fact, "
        "speaker: valkel, cluster: one, turns: [{question: Home?, checks: [{states: valkel.home}]}]}\n",
        encoding="utf-8",
    )
    ended = type_in("gate", "suite", str(path))

    assert ended.code == 0
    assert "warning: all 1 scenarios of a are of one cluster" in ended.err


@pytest.mark.parametrize(
    "argv",
    [
        (),
        ("suite",),
        ("suite", "example", "--generate"),
        ("suite", "--mood"),
        ("dance",),
        ("generate",),
        ("generate", "example"),
        ("generate", "example", "--model", "tiny", "--seeds", "0"),
        ("generate", "example", "--model", "tiny", "--against", "tiny"),
        ("generate", "example", "--model", "@http://x"),
        ("generate", "nowhere.yaml", "--model", "tiny"),
    ],
)
def test_wrong_usage_exits_with_3(argv: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """2 means INCONCLUSIVE here, so that a mistyped command never looks like a verdict."""
    monkeypatch.chdir(tmp_path)

    assert type_in("gate", *argv).code == 3


@pytest.mark.parametrize("argv", [("gate",), ("gate", "suite"), ("gate", "generate")])
def test_help_is_no_error(argv: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """Asking for help ends well."""
    assert type_in(*argv, "--help").code == 0
    assert "exit codes" in capsys.readouterr().out
