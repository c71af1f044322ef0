"""Behaviour of ``unmask ledger``."""

import asyncio
import csv
import io
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console
from sqlalchemy import update

from tests.cli.terminal import Ended, type_in
from tests.ledger.databases import World
from unmask.cli.ledger_tables import report_tables
from unmask.database.engine import open_database
from unmask.database.place import database_url
from unmask.database.transactions import reading
from unmask.ledger.owner import Owner
from unmask.ledger.report import By, last_days, make_report
from unmask.ledger.settlement import Purpose
from unmask.ledger.tables import ENDS, REQUESTS
from unmask.testing.ledgers import make_attempt, make_reservation, make_settlement

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture(name="database")
def _database(tmp_path: Path) -> Path:
    """A ledger in which two tenants were answered, one of them at the second attempt."""
    path = tmp_path / "ledger.db"
    open_database(database_url(str(path), {})).dispose()
    world = World(database_url(str(path), {}))
    world.wall.set(NOW.timestamp())

    async def fill() -> None:
        async with world.ledger() as ledger:
            for tenant in ("acme", "[red]"):
                reserved = await ledger.reserve(make_reservation(owner=Owner(tenant=tenant, tags=("app",))))
                again = make_attempt(purpose=Purpose.RE_EXPANSION, prefill_tokens=0)
                attempts = (make_attempt(), again) if tenant == "acme" else (make_attempt(),)
                await ledger.settle(make_settlement(reserved.id, attempts=attempts))

    asyncio.run(fill())
    return path


def ledger(database: Path, action: str, *argv: str) -> Ended:
    """Run the command over a database."""
    return type_in("ledger", action, "--database", str(database), *argv, now=lambda: NOW)


def test_report_shows_re_expansion_on_a_line_of_its_own(database: Path) -> None:
    """And what an accepted answer cost; names of tenants are no markup."""
    ended = ledger(database, "report")

    assert ended.code == 0
    assert "[red]" in ended.out
    assert "re-expansion" in ended.out
    assert "33.3%" in ended.out
    assert "0.000062" in ended.out
    assert "effective unit price" in ended.out


def test_report_as_json_and_csv(database: Path) -> None:
    """The same figures, in micro-units, and nothing else on stdout."""
    record = json.loads(ledger(database, "report", "--by", "day", "--weekly", "--json").out)
    rows = list(csv.reader(ledger(database, "report", "--by", "tag", "--csv").out.splitlines()))

    assert (record["by"], record["start"], record["end"]) == (
        "day",
        "2026-11-24T00:00:00+00:00",
        "2026-12-01T00:00:00+00:00",
    )
    assert record["total"]["now"]["cost"] == 42 + 40 + 42
    assert record["total"]["now"]["unit_price"] == 62
    assert [row[:3] for row in rows[1:]] == [
        ["app", "now", "2"],
        ["app", "before", "0"],
        ["total", "now", "2"],
        ["total", "before", "0"],
    ]


def test_report_of_another_period(database: Path) -> None:
    """The day that is named is the last one."""
    total = json.loads(ledger(database, "report", "--days", "2", "--until", "2026-12-01", "--json").out)["total"]
    later = json.loads(ledger(database, "report", "--days", "1", "--until", "2026-12-01", "--json").out)["total"]

    assert (total["now"]["requests"], total["before"]["requests"]) == (2, 0)
    assert (later["now"]["requests"], later["before"]["requests"]) == (0, 2)


def test_picture_is_drawn(database: Path, tmp_path: Path) -> None:
    """In the kind that its name says; another kind is refused before anything is read."""
    path = tmp_path / "report.svg"

    assert ledger(database, "report", "--picture", str(path)).code == 0
    assert path.read_text(encoding="utf-8").startswith("<?xml")
    assert ledger(database, "report", "--picture", "report.txt").code == 2


def test_verify_says_that_the_books_are_in_order(database: Path) -> None:
    """And how much there is."""
    ended = ledger(database, "verify")

    assert ended.code == 0
    assert "2 requests, 0 of them running, 3 attempts, 4 events, cost 0.000124" in ended.out
    assert "no fault" in ended.out


def test_verify_ends_with_1_where_something_is_wrong(database: Path) -> None:
    """Each fault is named."""
    engine = open_database(database_url(str(database), {}))
    with engine.begin() as connection:
        connection.execute(update(ENDS).values(cost=1))
    engine.dispose()
    ended = ledger(database, "verify")

    assert ended.code == 1
    assert "fault: request" in ended.out
    assert json.loads(ledger(database, "verify", "--json").out)["fault_count"] == 2


def test_a_ledger_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    """A wrong path is told, and nothing left behind."""
    ended = ledger(tmp_path / "none.db", "verify")

    assert ended.code == 2
    assert "no ledger" in ended.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("argv", [("--json", "--csv"), ("--by", "x"), ("--days", "0"), ("--until", "yesterday")])
def test_wrong_options_are_2(database: Path, argv: tuple[str, ...]) -> None:
    """What makes no sense ends with the usage."""
    assert ledger(database, "report", *argv).code == 2


def test_no_figure_is_broken_in_two(database: Path) -> None:
    """In a narrow window names are cut short, and figures are not."""
    engine = open_database(database_url(str(database), {}))
    with engine.begin() as connection:
        connection.execute(update(REQUESTS).values(tags=json.dumps(["결제" * 40])))
    with reading(engine) as connection:
        report = make_report(connection, By.TAG, last_days(1, NOW))
    engine.dispose()
    console = Console(file=io.StringIO(), width=80)
    for table in report_tables(report):
        console.print(table)
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()

    assert sum("결제" in line and "…" in line for line in lines) == 4
    assert sum("│ 0.000124 │" in line for line in lines) == 3
    assert max(map(cell_len, lines)) <= 80


def test_requests_add_up(database: Path) -> None:
    """What is neither accepted, rejected nor lost is on a line of its own."""
    total = json.loads(ledger(database, "report", "--json").out)["total"]["now"]

    assert total["requests"] == total["accepted"] + total["unaccepted"] + total["rejected"] + total["lost"]


def test_a_picture_says_which_letters_it_lacks(database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hangul without a font for it is no warning of a library; an SVG keeps the letters."""
    monkeypatch.setattr("unmask.cli.ledger_picture.FONTS", ("DejaVu Sans",))
    engine = open_database(database_url(str(database), {}))
    with engine.begin() as connection:
        connection.execute(update(REQUESTS).values(tags='["팀=결제"]'))
    engine.dispose()

    as_png = ledger(database, "report", "--by", "tag", "--picture", str(tmp_path / "a.png"))
    as_svg = ledger(database, "report", "--by", "tag", "--picture", str(tmp_path / "a.svg"))

    assert "no font here has all the letters" in as_png.err
    assert "no font" not in as_svg.err
    assert "팀=결제" in (tmp_path / "a.svg").read_text(encoding="utf-8")
