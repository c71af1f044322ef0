"""``unmask ledger``."""

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from sqlalchemy import Connection

from unmask.cli.exits import Exit, UsageError
from unmask.cli.ledger_quality import quality_record, read_quality, show_quality
from unmask.cli.ledger_tables import report_tables
from unmask.cli.tools import Tools
from unmask.config.file import find_file
from unmask.config.load import load_settings
from unmask.database.engine import open_database
from unmask.database.failures import translated
from unmask.database.place import PARAM, database_url
from unmask.database.transactions import reading
from unmask.errors import ConfigError
from unmask.ledger.report import By, last_days, make_report
from unmask.ledger.report_text import report_csv, report_record
from unmask.ledger.verify import verify_ledger


def run_ledger(args: argparse.Namespace, tools: Tools) -> int:
    """Report what was spent, or prove that the books are in order."""
    if args.action == "verify":
        return _verify(args, tools)
    return _quality(args, tools) if args.with_quality else _report(args, tools)


def _quality(args: argparse.Namespace, tools: Tools) -> int:
    """Report cost and quality by model and task type."""
    if args.csv:
        raise UsageError("--csv has no quality, so it does not go with --with-quality: use --json")
    if args.picture is not None:
        from unmask.cli.ledger_picture import check_pictures

        check_pictures(args.picture)
    period = last_days(args.days, args.until or tools.now())
    with _ledger(args) as connection:
        found = read_quality(args, connection, period)
    if args.json:
        tools.write_json(quality_record(found))
    else:
        show_quality(found, tools)
    if args.picture is not None:
        from unmask.cli.ledger_quality_picture import save_quality_picture

        _drawn(args.picture, tools, is_whole=save_quality_picture(found, args.picture))
    return Exit.OK


def _drawn(picture: Path, tools: Tools, *, is_whole: bool) -> None:
    if not is_whole:
        tools.say("no font here has all the letters of these names; an SVG leaves them to whoever looks at it")
    tools.say(f"drawn: {picture}")


def _report(args: argparse.Namespace, tools: Tools) -> int:
    if args.requests or args.controls:
        raise UsageError("--requests and --controls only go with --with-quality: add it")
    if args.picture is not None:
        from unmask.cli.ledger_picture import check_pictures

        check_pictures(args.picture)
    period = last_days(args.days, args.until or tools.now())
    with _ledger(args) as connection:
        report = make_report(connection, By(args.by), period)
    if args.json:
        tools.write_json(report_record(report))
    elif args.csv:
        tools.write(report_csv(report).rstrip("\n"))
    else:
        for table in report_tables(report):
            tools.out.print(table)
    if args.picture is not None:
        from unmask.cli.ledger_picture import save_picture

        _drawn(args.picture, tools, is_whole=save_picture(report, args.picture))
    return Exit.OK


def _verify(args: argparse.Namespace, tools: Tools) -> int:
    with _ledger(args) as connection:
        found = verify_ledger(connection)
    if args.json:
        tools.write_json(asdict(found))
    else:
        tools.write(
            f"{found.requests} requests, {found.running} of them running, {found.attempts} attempts, "
            f"{found.events} events, cost {found.cost / 1_000_000:.6f}"
        )
        for fault in found.faults:
            tools.write(f"  fault: {fault}")
        if found.fault_count > len(found.faults):
            tools.write(f"  and {found.fault_count - len(found.faults)} more")
        if not found.faults:
            tools.write("no fault: sums, no gaps, one outcome for each request")
    return Exit.MISSED if found.faults else Exit.OK


@contextmanager
def _ledger(args: argparse.Namespace) -> Iterator[Connection]:
    """Open the ledger to read; one that is not there is not made."""
    given = {} if args.database is None else {"database": args.database}
    settings = load_settings(flags=given, environ=os.environ, file=find_file(Path(), args.config)).settings
    url = database_url(settings.database, os.environ)
    if url.get_backend_name() == "sqlite" and not Path(url.database or "").is_file():
        raise ConfigError(
            f"there is no ledger in {url.database}; name its database with --database PLACE, or let a server make one",
            param=PARAM,
        )
    engine = open_database(url, durability=settings.durability)
    try:
        with translated(), reading(engine) as connection:
            yield connection
    finally:
        engine.dispose()
