"""Behaviour of `unmask config`, and of settings on the command line."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.cli.terminal import type_in
from unmask.config.keys import Key, settings_keys


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def settings(*argv: str) -> dict[str, dict[str, Any]]:
    """Return what the command says, by setting."""
    ended = type_in("config", "--json", *argv)
    assert (ended.code, ended.err) == (0, "")
    return {setting["name"]: setting for setting in json.loads(ended.out)["settings"]}


@pytest.mark.usefixtures("folder")
def test_every_setting_is_shown_for_machines() -> None:
    """Value, default, source, rule, meaning, variable and flag of each."""
    shown = settings("--port", "0", "--model", "a", "--model", "b")

    assert list(shown) == [key.name for key in settings_keys()]
    assert shown["port"] == {
        "name": "port",
        "value": 0,
        "source": "flag",
        "place": "--port",
        "default": 8000,
        "allowed": "a whole number from 0 to 65535",
        "meaning": "Port to listen on; 0 takes a free one.",
        "group": "server",
        "variable": "UNMASK_PORT",
        "flag": "--port",
    }
    assert shown["models"]["value"] == ["a", "b"]
    assert (shown["threads"]["value"], shown["threads"]["source"], shown["threads"]["place"]) == (None, "default", None)


def test_sources_are_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each value says where it comes from; the file of the folder is read unless another is named."""
    (folder / "unmask.yaml").write_text("port: 1\nmax_rows: 1\n", encoding="utf-8")
    (folder / "other.toml").write_text("port = 2\n", encoding="utf-8")
    monkeypatch.setenv("UNMASK_QUEUE_LIMIT", "5")
    found, named = settings(), settings("--config", "other.toml")

    assert (found["max_rows"]["value"], found["max_rows"]["place"]) == (1, "unmask.yaml line 2")
    assert (found["queue_limit"]["value"], found["queue_limit"]["place"]) == (5, "UNMASK_QUEUE_LIMIT")
    assert (named["port"]["value"], named["port"]["place"]) == (2, "other.toml line 1")
    assert named["max_rows"]["source"] == "default"


@pytest.mark.usefixtures("folder")
def test_every_setting_is_shown_for_people() -> None:
    """The table has a row for each, with what is empty in words."""
    out = type_in("config", "--drain-s", "5").out

    assert all(f"│ {key.name}" in out for key in settings_keys())
    assert "│ --drain-s" in out
    assert "torch decides" in out


@pytest.mark.usefixtures("folder")
def test_mistake_ends_with_2() -> None:
    """What `serve` would refuse is refused here, so that a file can be checked before it is used."""
    ended = type_in("config", "--max-rows", "0")

    assert (ended.code, ended.out) == (2, "")
    assert ended.err.split(", allowed")[0] == "unmask config: --max-rows: max_rows is 0"


def test_example_can_be_saved_and_used(folder: Path) -> None:
    """The example is a whole file, and nothing else goes to stdout."""
    ended = type_in("config", "--example")
    (folder / "unmask.toml").write_text(ended.out, encoding="utf-8")

    assert tomllib.loads(ended.out) == {}
    assert {setting["source"] for setting in settings().values()} == {"default"}


@pytest.mark.usefixtures("folder")
def test_one_of_a_few_names_is_shown_and_offered(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scripts read the name, and help lists those that may be given."""
    monkeypatch.setenv("COLUMNS", "1000")
    monkeypatch.setenv("UNMASK_PRECISION", "bfloat16")
    shown = settings()["precision"]
    type_in("serve", "--help")

    allowed = "float32, bfloat16, int8 or int4"
    assert (shown["value"], shown["default"], shown["allowed"]) == ("bfloat16", None, allowed)
    assert f"Allowed: {allowed}." in capsys.readouterr().out


@pytest.mark.parametrize("command", ["serve", "config"])
@pytest.mark.parametrize("key", settings_keys(), ids=lambda key: key.name)
def test_every_setting_has_an_option(
    command: str, key: Key, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Help says what each does and what it is unless given."""
    monkeypatch.setenv("COLUMNS", "1000")
    type_in(command, "--help")

    # A long option has its help on a line of its own.
    out = re.sub(r"\n {24}", "  ", capsys.readouterr().out)
    (line,) = (line for line in out.splitlines() if line.startswith(f"  {key.flag} "))
    assert key.setting.meaning in line
    assert line.endswith(f"(default {key.shown(key.default)})")


@pytest.mark.parametrize("name", ["remote", "prices", "reward-key-file"])
def test_a_file_that_a_server_would_miss_is_told(folder: Path, name: str) -> None:
    """By setting, place and path; once it is there, all is shown."""
    ended = type_in("config", f"--{name}", "없음.yaml")
    (folder / "없음.yaml").touch()

    assert ended.code == 2
    assert all(part in ended.err for part in (name.replace("-", "_"), f"--{name}", "없음.yaml", "no such file"))
    assert type_in("config", f"--{name}", "없음.yaml").code == 0


def test_a_folder_of_a_model_that_is_not_there_is_told(folder: Path) -> None:
    """Names of models and of repositories cannot be told from here."""
    ended = type_in("config", "--model", "./mine")
    (folder / "mine").mkdir()

    assert (ended.code, "./mine" in ended.err) == (2, True)
    assert type_in("config", "--model", "./mine", "--model", "tiny", "--model", "owner/name").code == 0


@pytest.mark.usefixtures("folder")
def test_a_file_that_is_made_when_needed_need_not_be_there() -> None:
    """Database, pepper and folder of policies."""
    argv = ("--database", "a/b.db", "--pepper-file", "a/pepper", "--policy-dir", "a/policy")
    assert type_in("config", *argv).code == 0
