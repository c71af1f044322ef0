"""``unmask savings``."""

import argparse
import os
from pathlib import Path

from rich.table import Table

from unmask.cli.exits import Exit
from unmask.cli.tools import Tools
from unmask.config.file import find_file
from unmask.config.load import load_settings
from unmask.config.savings import enabled_savings
from unmask.config.state import state_folder
from unmask.errors import ConfigError
from unmask.savings.figure import Estimated
from unmask.savings.figure_file import write_figure
from unmask.savings.record import standing_record
from unmask.savings.result import figures_of
from unmask.savings.standing import FOLDER, KnownSavings, Standing, known_figures, standings


def run_savings(args: argparse.Namespace, tools: Tools) -> int:
    """Show savings with their quality, or keep what a bench has measured of them."""
    if args.action == "keep":
        _keep(args.file, tools)
        return Exit.OK
    settings = load_settings(flags={}, environ=os.environ, file=find_file(Path(), None)).settings
    known = KnownSavings(figures=known_figures(state_folder(os.environ)), enabled=enabled_savings(settings))
    found = standings(known)
    if args.json:
        tools.write_json({"savings": [standing_record(standing) for standing in found]})
    else:
        for table in _tables(found):
            tools.out.print(table)
        for standing in found:
            if standing.figure is None:
                tools.say(f"{standing.saving.name} cannot be enabled before it is measured: {standing.saving.command}")
    return Exit.OK


def _keep(file: Path, tools: Tools) -> None:
    try:
        content = file.read_bytes()
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror or error}") from error
    folder = state_folder(os.environ) / FOLDER
    for figure in figures_of(content, measured=tools.now().date().isoformat()):
        path = write_figure(folder, figure)
        tools.say(
            f"{figure.saving}: saves {_shown(figure.saved)}, quality {_shown(figure.quality, signed=True)}: {path}"
        )


def _tables(found: tuple[Standing, ...]) -> tuple[Table, Table]:
    """Return what is saved at which quality, and what these are shares of; two narrow tables, so that none is cut."""
    figures = Table(
        "saving", "saved", "quality", caption="95 %, both on the same items; quality: with it minus without it"
    )
    for standing in found:
        figure = standing.figure
        told = ("not measured", "") if figure is None else (_shown(figure.saved), _shown(figure.quality, signed=True))
        figures.add_row(standing.saving.name, *told)
    meanings = Table("saving", "share of", "quality", "items", "enabled by")
    for standing in found:
        saving, figure = standing.saving, standing.figure
        items = "" if figure is None else f"{figure.items:,}"
        meanings.add_row(saving.name, saving.saves, saving.quality, items, ", ".join(standing.enabled_by) or "off")
    for table in (figures, meanings):
        table.columns[0].no_wrap = True
    return figures, meanings


def _shown(found: Estimated, *, signed: bool = False) -> str:
    """Write a share in percent; of qualities the sign says which way."""
    sign = "+" if signed else ""
    return f"{found.value:{sign}.1%} ({found.low:{sign}.1%} to {found.high:{sign}.1%})"
