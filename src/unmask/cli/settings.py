"""Settings on the command line: one option each, read off the schema."""

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from unmask.config.keys import Key, settings_keys
from unmask.config.rules import Folder, Group, OneOf

if TYPE_CHECKING:
    from unmask.config.load import Loaded


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Add ``--config`` and an option for every setting; values stay texts, so that all sources are checked alike."""
    parser.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help="TOML or YAML file of settings (default: unmask.toml or unmask.yaml in this folder, if there)",
    )
    for group in Group:
        options = parser.add_argument_group(f"settings: {group}")
        for key in settings_keys():
            if key.group is group:
                action = "append" if key.is_list else "store"
                options.add_argument(key.flag, dest=key.name, action=action, metavar=_metavar(key), help=_help(key))


def load_given(args: argparse.Namespace) -> "Loaded":
    """Read the settings of this command line, of the process's environment, and of the file in its folder.

    Raises:
        ConfigError: one of them is unknown or does not fit.
    """
    # Here, since pydantic takes longer to import than most commands to run.
    from unmask.config.file import find_file
    from unmask.config.load import load_settings

    given = {key.name: getattr(args, key.name) for key in settings_keys()}
    flags = {
        name: ",".join(text) if isinstance(text, list) else text for name, text in given.items() if text is not None
    }
    return load_settings(flags=flags, environ=os.environ, file=find_file(Path(), args.config))


def _metavar(key: Key) -> str:
    if key.is_list or isinstance(key.setting.rule, OneOf):
        return "NAME"
    if isinstance(key.setting.rule, Folder):
        return "DIR" if key.name.endswith("_dir") else "PLACE"
    if isinstance(key.default, str):
        return "TEXT"
    return "X" if key.kind is float else "N"


def _help(key: Key) -> str:
    repeated = " May be repeated." if key.is_list else ""
    names = f" Allowed: {key.allowed}." if isinstance(key.setting.rule, OneOf) else ""
    return f"{key.setting.meaning}{repeated}{names} (default {key.shown(key.default)})".replace("%", "%%")
