"""The grammar of ``unmask world ask``."""

from pathlib import Path
from typing import TYPE_CHECKING

from unmask.cli.arguments import add_command, add_json, whole
from unmask.cli.embeddings import add_embeddings

if TYPE_CHECKING:
    import argparse

FORMS = ("cards", "triples", "prose")


def add_ask(acts: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the act that shows which facts a question gets."""
    ask = add_command(acts, "ask", "Show the facts that a prompt with this question would carry. No model is asked.")
    ask.add_argument("question", nargs="+", metavar="QUESTION", help="what is asked; several are turns of one talk")
    ask.add_argument("--world", type=Path, metavar="FOLDER", help="which world (default: the shipped one)")
    ask.add_argument("--speaker", metavar="ID", help="who answers (default: the first entity with a persona)")
    ask.add_argument("--language", metavar="CODE", help="of question and facts (default: the world's first)")
    ask.add_argument(
        "--form", choices=FORMS, help="how facts are written (default cards, or prose where no slot is one of cards)"
    )
    ask.add_argument("--budget", type=whole(1), default=256, metavar="N", help="most tokens of the facts (default 256)")
    ask.add_argument("--similar", type=whole(0), default=3, metavar="N", help="most facts by likeness (default 3)")
    ask.add_argument("--kiwi", action="store_true", help="cut Korean words with kiwipiepy too, of the extra korean")
    ask.add_argument("--explain", action="store_true", help="show why each fact is there, and what was left out")
    add_embeddings(ask)
    add_json(ask)
