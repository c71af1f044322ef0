"""``docs/cli.md`` says all that the commands know."""

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from unmask.cli.exits import EXPLAINED
from unmask.cli.parser import build_parser
from unmask.config.keys import Key, settings_keys

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "cli.md").read_text(encoding="utf-8")
OPERATIONS = (DOCS / "operations.md").read_text(encoding="utf-8")
TAKE_SETTINGS = {"serve", "config", "deploy ray"}
OF_SETTINGS = frozenset(key.flag for key in settings_keys())


def commands_of(parser: argparse.ArgumentParser, before: str = "") -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Yield every command by its words, and so those of commands that have acts of their own."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, found in action.choices.items():
                yield f"{before}{name}", found
                yield from commands_of(found, f"{before}{name} ")


def options() -> list[tuple[str, str]]:
    """Return every option of every command, those of settings left out."""
    return [
        (name, option)
        for name, parser in commands_of(build_parser())
        for action in parser._actions
        for option in action.option_strings
        if option not in {"-h", "--help"} and (name not in TAKE_SETTINGS or option not in OF_SETTINGS)
    ]


@pytest.mark.parametrize(("command", "option"), options())
def test_every_option_is_documented(command: str, option: str) -> None:
    """Each command is shown, and each option named."""
    assert f"unmask {command}" in TEXT
    assert option in TEXT


@pytest.mark.parametrize("key", settings_keys(), ids=lambda key: key.name)
def test_every_setting_is_documented(key: Key) -> None:
    """The table of settings says what the schema says."""
    assert f"| `{key.name}` | {key.shown(key.default)} | {key.allowed} | {key.setting.meaning} |" in OPERATIONS


def test_no_other_setting_is_documented() -> None:
    """A setting that is gone leaves the table too; its order is that of the schema."""
    assert re.findall(r"(?m)^\| `(\w+)` \| .* \| .* \| .* \|$", OPERATIONS) == [key.name for key in settings_keys()]


@pytest.mark.parametrize("line", EXPLAINED.splitlines()[1:])
def test_serving_exit_codes_are_documented(line: str) -> None:
    """Whoever runs a server finds the codes where the rest of its running is explained."""
    code, _ = line.split(maxsplit=1)

    assert f"| {code} | " in OPERATIONS


@pytest.mark.parametrize("line", EXPLAINED.splitlines()[1:])
def test_every_exit_code_is_documented(line: str) -> None:
    """The page and the help say the same."""
    code, meaning = line.split(maxsplit=1)

    assert f"| {code} | {meaning} |" in TEXT
