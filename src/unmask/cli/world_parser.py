"""The grammar of ``unmask world``."""

import argparse
from pathlib import Path

from unmask.cli.arguments import add_command, add_json
from unmask.cli.world_ask_parser import add_ask

FORMATS = ("card", "records")


def add_world_commands(world: argparse.ArgumentParser) -> None:
    """Add every act on worlds; each sets ``act``, and `unmask.cli.world.ACTS` says what runs it."""
    acts = world.add_subparsers(dest="act", required=True, metavar="ACT")
    _add_check(acts)
    add_ask(acts)
    _add_import(acts)


def _add_check(acts: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    check = add_command(
        acts,
        "check",
        "Say what a world holds and what is odd about it, or every fault with file and line. "
        "Exits with 0 when it can be used, 1 when it has faults.",
    )
    check.add_argument("folder", nargs="?", type=Path, metavar="FOLDER", help="which world (default: the shipped one)")
    add_json(check)


def _add_import(acts: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    taken = add_command(
        acts, "import", "Write a world folder from a character card's lorebook, or from flat records with a mapping."
    )
    taken.add_argument("file", type=Path, metavar="FILE", help="JSON of a card or lorebook; JSON or JSONL of records")
    taken.add_argument("--from", dest="source", required=True, choices=FORMATS, help="what FILE is")
    taken.add_argument("--to", type=Path, required=True, metavar="FOLDER", help="where the world goes; must be empty")
    taken.add_argument("--mapping", type=Path, metavar="FILE", help="of records: which field becomes what")
    taken.add_argument("--language", metavar="CODE", help="of a card: what it is written in (default en)")
    add_json(taken)
