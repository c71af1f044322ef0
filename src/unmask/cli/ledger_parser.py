"""The grammar of ``unmask ledger``."""

import argparse
from datetime import UTC, datetime
from pathlib import Path

from unmask.cli.arguments import add_command, add_json, whole

LINES = ("tenant", "task", "class", "model", "tag", "day")
DAYS = 30
WEEK = 7


def add_ledger_actions(ledger: argparse.ArgumentParser) -> None:
    """Add what can be asked of the ledger; each sets ``action``."""
    actions = ledger.add_subparsers(dest="action", required=True, metavar="ACTION")

    report = _action(
        actions,
        "report",
        "Sum up what was spent, against the period before: requests, steps, cost, further attempts on a line of their "
        "own, and what an accepted answer cost. Money is in units of the currency, in --json and --csv in micro-units.",
    )
    lines = report.add_mutually_exclusive_group()
    lines.add_argument("--by", choices=LINES, default=LINES[0], help="what a line is of (default tenant)")
    lines.add_argument(
        "--with-quality",
        action="store_true",
        help="cost beside quality, by model and task type: answers that passed their verifiers, exits that were wrong",
    )
    report.add_argument(
        "--requests", type=whole(1), default=0, metavar="N", help="with --with-quality: list the N costliest requests"
    )
    report.add_argument(
        "--controls",
        type=Path,
        metavar="DIR",
        help="with --with-quality: records of controls (default: the server's)",
    )
    period = report.add_mutually_exclusive_group()
    period.add_argument(
        "--days", type=whole(1), default=DAYS, metavar="N", help=f"days of UTC, today included (default {DAYS})"
    )
    period.add_argument("--weekly", dest="days", action="store_const", const=WEEK, help="the same as --days 7")
    report.add_argument("--until", type=_day, metavar="DAY", help="last day, as 2026-11-30, in place of today")
    shape = report.add_mutually_exclusive_group()
    add_json(shape)
    shape.add_argument("--csv", action="store_true", help="write CSV to stdout and nothing else")
    report.add_argument("--picture", type=Path, metavar="FILE", help="draw it too, as PNG or SVG")

    verify = _action(
        actions,
        "verify",
        "Prove the ledger: sums, no gaps, one outcome for each request. Exits with 1 where something is wrong.",
    )
    add_json(verify)


def _action(
    actions: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, description: str
) -> argparse.ArgumentParser:
    parser = add_command(actions, name, description)
    parser.add_argument("--database", metavar="PLACE", help="file or URL (default: the setting database)")
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings file that database is read from")
    return parser


def _day(text: str) -> datetime:
    try:
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no day, allowed: as 2026-11-30") from error
