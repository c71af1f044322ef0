"""``docs/cli.md`` says all that the commands know."""

import argparse
from dataclasses import fields
from pathlib import Path

import pytest

from unmask.cli.exits import EXPLAINED
from unmask.cli.parser import build_parser
from unmask.config import Settings

TEXT = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")


def options() -> list[tuple[str, str]]:
    """Return every option of every command."""
    (commands,) = (action for action in build_parser()._actions if isinstance(action, argparse._SubParsersAction))
    return [
        (name, option)
        for name, parser in commands.choices.items()
        for action in parser._actions
        for option in action.option_strings
        if option not in {"-h", "--help"}
    ]


@pytest.mark.parametrize(("command", "option"), options())
def test_every_option_is_documented(command: str, option: str) -> None:
    """Each command is shown, and each option named."""
    assert f"unmask {command}" in TEXT
    assert option in TEXT


@pytest.mark.parametrize("name", [field.name for field in fields(Settings)])
def test_every_setting_is_documented(name: str) -> None:
    """Each setting of the server has its row."""
    assert f"| `{name}` | " in TEXT


@pytest.mark.parametrize("line", EXPLAINED.splitlines()[1:])
def test_every_exit_code_is_documented(line: str) -> None:
    """The page and the help say the same."""
    code, meaning = line.split(maxsplit=1)

    assert f"| {code} | {meaning} |" in TEXT
