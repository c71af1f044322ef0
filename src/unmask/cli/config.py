"""``unmask config``."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from rich.table import Table
from rich.text import Text

from unmask.cli.exits import Exit
from unmask.cli.settings import load_given
from unmask.cli.tools import Tools
from unmask.config.example import example_file
from unmask.config.keys import Key, hidden, settings_keys
from unmask.config.load import Loaded, Source
from unmask.config.named_files import check_files
from unmask.errors import ConfigError
from unmask.local.places import place_of


def run_config(args: argparse.Namespace, tools: Tools) -> int:
    """Show every setting as `serve` would find it, or write an example file."""
    if args.example:
        tools.write(example_file())
        return Exit.OK
    loaded = load_given(args)
    check_files(loaded)
    _check_models(loaded.settings.models)
    if args.json:
        file = None if loaded.file is None else str(loaded.file)
        tools.write_json({"file": file, "settings": [_record(key, loaded) for key in settings_keys()]})
    else:
        tools.out.print(_table(loaded))
    return Exit.OK


def _check_models(names: Sequence[str]) -> None:
    """Refuse folders of models that are not there; names and repositories are only known once they are loaded."""
    for name in names:
        place = place_of(name)
        if isinstance(place, Path) and not place.is_dir():
            raise ConfigError(
                f"models has {name!r}, and there is no such folder, allowed: names, folders or Hub ids. "
                "Folders count from the one that the server is started in.",
                param="models",
            )


def _record(key: Key, loaded: Loaded) -> dict[str, object]:
    origin = loaded.origins[key.name]
    return {
        "name": key.name,
        "value": hidden(loaded.value(key)),
        "source": origin.source,
        "place": origin.place or None,
        "default": key.default,
        "allowed": key.allowed,
        "meaning": key.setting.meaning,
        "group": key.group,
        "variable": key.variable,
        "flag": key.flag,
    }


def _table(loaded: Loaded) -> Table:
    table = Table()
    # A name in two lines can be neither found nor copied.
    table.add_column("setting", no_wrap=True)
    for name in ("value", "from", "meaning"):
        table.add_column(name, overflow="fold")
    group = None
    for key in settings_keys():
        if key.group is not group:
            table.add_section()
            group = key.group
        origin = loaded.origins[key.name]
        style = "dim" if origin.source is Source.DEFAULT else "bold"
        # As texts, for a value may hold what would be markup.
        table.add_row(
            key.name,
            Text(key.shown(loaded.value(key)), style),
            Text(origin.place or origin.source, style),
            Text(f"{key.setting.meaning} Allowed: {key.allowed}."),
        )
    return table
