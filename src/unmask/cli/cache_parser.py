"""The grammar of ``unmask cache``."""

import argparse
from pathlib import Path

from unmask.cli.arguments import add_command, add_json, whole
from unmask.cli.embeddings import add_embeddings

PAIRS = 1_000
URL = "http://127.0.0.1:8000"


def add_cache_actions(parser: argparse.ArgumentParser) -> None:
    """Add what can be asked of the cache of answers; each sets ``action``."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")

    report = add_command(
        actions,
        "report",
        "Say how many hits were false, of those that were generated again and compared, with an interval.",
    )
    report.add_argument("--folder", type=Path, metavar="DIR", help="of comparisons (default: in the folder of state)")
    report.add_argument("--false", action="store_true", help="list the false ones too, with both questions and texts")
    add_json(report)

    forget = add_command(actions, "forget", "Take an answer out of a running server's cache, or all of them.")
    which = forget.add_mutually_exclusive_group(required=True)
    which.add_argument("entry", nargs="?", metavar="ENTRY", help="its id, as answers and the report name it")
    which.add_argument("--all", action="store_true", help="all answers that the key may remove")
    forget.add_argument("--url", default=URL, help=f"the server (default {URL})")
    forget.add_argument("--key-file", type=Path, metavar="FILE", help="file with an operator's or tenant admin's key")

    calibrated = add_command(
        actions,
        "calibrate",
        "Find how alike questions have to be, on generated pairs, and say what that is worth on others.",
    )
    add_embeddings(calibrated)
    calibrated.add_argument(
        "--pairs", type=whole(2), default=PAIRS, metavar="N", help=f"of each origin and split (default {PAIRS})"
    )
    calibrated.add_argument("--seed", type=whole(), default=0, metavar="N", help="of pairs (default 0)")
    add_json(calibrated)
