"""Behaviour of ``unmask savings`` and of ``unmask ledger report --with-quality``."""

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.cli.terminal import type_in
from tests.ledger.databases import World
from unmask.database.engine import open_database
from unmask.database.place import database_url
from unmask.testing.ledgers import make_attempt, make_reservation, make_settlement
from unmask.types import Verification

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
FIGURES = [
    {"name": "int4.memory_saving", "value": 0.4, "low": None, "high": None, "n": None},
    {"name": "int4.quality_vs_float32", "value": -0.01, "low": -0.02, "high": 0.0, "n": 10},
]


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of state of one's own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def test_savings_are_shown_with_their_quality(tmp_path: Path) -> None:
    """What a bench has measured is kept and shown; what nobody has measured says what would measure it."""
    result = {"bench": "precision", "machine": "m", "commit": "c", "model": "tiny", "model_digest": "d", "seed": 0}
    file = tmp_path / "result.json"
    file.write_text(json.dumps(result | {"quick": False, "figures": FIGURES}), encoding="utf-8")
    before, kept, after = type_in("savings"), type_in("savings", "keep", str(file), now=lambda: NOW), type_in("savings")
    listed = json.loads(type_in("savings", "--json").out)["savings"]

    assert (before.code, kept.code, after.code) == (0, 0, 0)
    assert "int4 cannot be enabled before it is measured: unmask bench precision" in before.err
    assert "40.0% (40.0% to 40.0%)" in after.out
    assert "-1.0% (-2.0% to +0.0%)" in after.out
    assert "int4 cannot be enabled" not in after.err
    assert next(one for one in listed if one["name"] == "int4")["figure"]["measured"] == "2026-11-30"


def test_results_that_are_not_there_are_refused(tmp_path: Path) -> None:
    """With the name of the file."""
    ended = type_in("savings", "keep", str(tmp_path / "none.json"))

    assert (ended.code, "none.json cannot be read" in ended.err) == (2, True)


@pytest.fixture(name="database")
def _database(tmp_path: Path) -> Path:
    """A ledger with three answers of a task type, one of which failed its verifier, and one of a route."""
    path = tmp_path / "ledger.db"
    open_database(database_url(str(path), {})).dispose()
    world = World(database_url(str(path), {}))
    world.wall.set(NOW.timestamp())

    async def fill() -> None:
        async with world.ledger() as ledger:
            for verdict in (Verification.PASS, Verification.PASS, Verification.FAIL):
                reserved = await ledger.reserve(make_reservation(task="sort"))
                await ledger.settle(make_settlement(reserved.id, attempts=(make_attempt(verification=verdict),)))
            reserved = await ledger.reserve(make_reservation(model="길", task="latin"))
            await ledger.settle(make_settlement(reserved.id, attempts=(make_attempt(model="nano"),)))

    asyncio.run(fill())
    return path


def test_cost_and_quality_are_in_one_table(database: Path) -> None:
    """By model and task type, with intervals; requests where they are asked for."""
    argv = ("ledger", "report", "--database", str(database), "--with-quality", "--requests", "2")
    shown = type_in(*argv, now=lambda: NOW)
    found = json.loads(type_in(*argv, "--json", now=lambda: NOW).out)
    line, _ = found["lines"]
    (answered,) = found["answered"]

    assert shown.code == 0
    assert "66.7% (20.8% to 93.9%)" in shown.out
    assert (line["task"], line["requests"], line["judged"], line["passed"]) == ("sort", 3, 3, 2)
    assert line["cost_a_request"] == line["cost"] / 3
    assert line["misjudgement"] is None
    assert (answered["route"], answered["model"], answered["requests"], answered["judged"]) == ("길", "nano", 1, 0)
    assert "answered by" in shown.out
    assert [one["cost"] for one in found["requests"]] == [line["cost"] / 3] * 2


@pytest.mark.parametrize(
    "argv", [("--with-quality", "--csv"), ("--requests", "1"), ("--controls", "x"), ("--with-quality", "--by", "task")]
)
def test_options_that_do_not_go_together_are_refused(database: Path, argv: tuple[str, ...]) -> None:
    """An option that nobody reads is no option."""
    assert type_in("ledger", "report", "--database", str(database), *argv, now=lambda: NOW).code == 2


def test_cost_and_quality_can_be_drawn(database: Path, tmp_path: Path) -> None:
    """As an SVG with the names of the lines."""
    picture = tmp_path / "quality.svg"
    argv = ("ledger", "report", "--database", str(database), "--with-quality", "--picture", str(picture))

    assert type_in(*argv, now=lambda: NOW).code == 0
    assert "sort" in picture.read_text(encoding="utf-8")
