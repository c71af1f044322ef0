"""``unmask world check``."""

import argparse
from dataclasses import asdict
from pathlib import Path

from rich.table import Table
from rich.text import Text

from unmask.cli.exits import Exit, UsageError
from unmask.cli.tools import Tools
from unmask.knowledge.errors import WorldError
from unmask.knowledge.files import read_world
from unmask.knowledge.shipped import EXAMPLE
from unmask.knowledge.survey import Note, Survey, survey
from unmask.knowledge.world import World


def run_check(args: argparse.Namespace, tools: Tools) -> int:
    """Show what a world holds, or all that is wrong with it."""
    folder: Path = args.folder or EXAMPLE
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder, allowed: one with world.yaml and entities in it")
    try:
        world = read_world(folder)
    except WorldError as error:
        return _show_faults(error, tools, as_json=args.json)
    found = survey(world)
    if args.json:
        tools.write_json(_record(folder, world, found))
    else:
        tools.out.print(_heading(world), highlight=False, markup=False, soft_wrap=True)
        tools.out.print(counts_table(found))
        if found.notes:
            tools.out.print(_notes(found.notes))
    return Exit.OK


def _show_faults(error: WorldError, tools: Tools, *, as_json: bool) -> int:
    if as_json:
        faults = [asdict(fault) for fault in error.faults]
        tools.write_json({"folder": str(error.folder), "ok": False, "faults": faults})
    else:
        for fault in error.faults:
            tools.write(f"{error.folder / fault.file}:{fault.line}: {fault.message}")
        tools.say(f"{len(error.faults)} to mend in {error.folder}")
    return Exit.MISSED


def _record(folder: Path, world: World, found: Survey) -> dict[str, object]:
    return {
        "folder": str(folder),
        "ok": True,
        "id": world.id,
        "title": world.title,
        "languages": list(world.languages),
        "digest": world.digest,
        "words": len(world.words),
        "types": [asdict(count) for count in found.counts],
        "notes": [
            {
                "kind": note.oddity.value,
                "text": note.text,
                "file": None if note.place is None else note.place.file,
                "line": None if note.place is None else note.place.line,
            }
            for note in found.notes
        ],
        "faults": [],
    }


def _heading(world: World) -> str:
    languages = ", ".join(world.languages)
    return f"{world.id}: {world.title} · {languages} · {len(world.words)} words · {world.digest}"


def counts_table(found: Survey) -> Table:
    """Return what there is of each entity type, and in all."""
    table = Table()
    for name in ("type", "entities", "aliases", "facts now", "facts past", "misconceptions"):
        table.add_column(name, justify="left" if name == "type" else "right")
    rows = [
        (count.entities, count.aliases, count.current, count.former, count.misconceptions) for count in found.counts
    ]
    for count, row in zip(found.counts, rows, strict=True):
        table.add_row(Text(count.type), *map(str, row))
    table.add_section()
    table.add_row("all", *(str(sum(column)) for column in zip(*rows, strict=True)))
    return table


def _notes(notes: tuple[Note, ...]) -> Table:
    table = Table(title="notes: nothing is wrong, but is it meant?", title_justify="left")
    for name in ("note", "what", "where"):
        table.add_column(name, overflow="fold")
    for note in notes:
        where = "" if note.place is None else f"{note.place.file}:{note.place.line}"
        table.add_row(note.oddity.value, Text(note.text), Text(where))
    return table
