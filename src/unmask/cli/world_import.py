"""``unmask world import``."""

import argparse
import re

from unmask.cli.exits import Exit, UsageError
from unmask.cli.tools import Tools
from unmask.cli.world_check import counts_table
from unmask.knowledge.imported import Imported, write_imported
from unmask.knowledge.lorebook import import_card
from unmask.knowledge.mapping import read_mapping
from unmask.knowledge.records import import_records
from unmask.knowledge.schema import LANGUAGE
from unmask.knowledge.survey import survey


def run_import(args: argparse.Namespace, tools: Tools) -> int:
    """Write a world, and say what of the file it has no place for."""
    imported = _from_card(args) if args.source == "card" else _from_records(args)
    world = write_imported(imported, args.to)
    if args.json:
        tools.write_json(
            {
                "folder": str(args.to),
                "id": world.id,
                "digest": world.digest,
                "entities": len(world.entities),
                "statements": len(world.statements),
                "notes": list(imported.notes),
            }
        )
    else:
        tools.out.print(counts_table(survey(world)))
        for note in imported.notes:
            tools.say(f"note: {note}")
        tools.say(f"{args.to} is written; `unmask world check {args.to}` says more")
    return Exit.OK


def _from_card(args: argparse.Namespace) -> Imported:
    if args.mapping is not None:
        raise UsageError("--mapping is for records; a card has its fields by its specification. Leave it out.")
    language = args.language or "en"
    if not re.match(LANGUAGE, language):
        raise UsageError(f"--language is {language!r}, allowed: a code such as en or ko")
    return import_card(args.file, language)


def _from_records(args: argparse.Namespace) -> Imported:
    if args.mapping is None:
        raise UsageError("records need --mapping FILE, which says what their fields become")
    if args.language is not None:
        raise UsageError("--language is for cards; the mapping of records has their languages. Leave it out.")
    return import_records(args.file, read_mapping(args.mapping))
