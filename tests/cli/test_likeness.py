"""Behaviour of ``unmask tenants report``, over a ledger with traffic."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import insert

from tests.cli.terminal import type_in
from unmask.database.engine import open_database
from unmask.database.place import database_url
from unmask.ledger.settlement import Ending
from unmask.ledger.tables import ENDS, REQUESTS
from unmask.ledger.traffic import Booked, booked_since

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
HOUR_S = 3_600
HOURS = 24
Row = dict[str, object]


def request_row(name: str, tenant: str, service_class: str, time: float) -> Row:
    """Return the row of a request that was admitted."""
    texts = dict.fromkeys(("process", "key", "end_user", "tags", "request_id", "policy", "price", "charges"), "")
    numbers = dict.fromkeys(("steps", "token_steps", "prefill_tokens"), 100)
    named: Row = {"id": name, "tenant": tenant, "service_class": service_class, "time_us": round(time * 1e6)}
    return {"task": "sort", "model": "tiny", **texts, **numbers, **named}


def end_row(name: str, time: float, *, seconds: float, ending: Ending = Ending.COMPLETED) -> Row:
    """Return the row of a request that ended."""
    left = [column.name for column in ENDS.columns if not column.nullable]
    return {
        **dict.fromkeys(left, 0),
        "request": name,
        "time_us": round(time * 1e6),
        "ending": ending,
        "reason": "",
        "payer": "",
        "accepted": True,
        "cap_applied": False,
        "steps": 8,
        "prefill_tokens": 30,
        "cached_tokens": 10,
        "total_s": seconds,
    }


def hour_of(tenant: str, service_class: str, hour: int, *, is_flood: bool) -> Iterator[tuple[Row, Row]]:
    """Yield an hour of one request after the other, or of many at once."""
    begun = NOW.timestamp() - (hour + 1) * HOUR_S
    for number in range(30 + hour % 5 if is_flood else 3 + hour % 2):
        name = f"{tenant} {service_class} {hour} {number}"
        time = begun + (number % 7 if is_flood else 60 * number)
        yield request_row(name, tenant, service_class, time), end_row(name, time, seconds=20)


@pytest.fixture(autouse=True)
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a ledger with people and machines, one of which asks for the people's class."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    rows = [
        row
        for tenant, service_class, is_flood in (
            ("ann", "interactive", False),
            ("bob", "interactive", False),
            ("sly", "interactive", True),
            ("nightly", "batch", True),
            ("weekly", "batch", True),
        )
        for hour in range(HOURS)
        for row in hour_of(tenant, service_class, hour, is_flood=is_flood)
    ]
    rejected = "sly is turned away"
    rows.append(
        (
            request_row(rejected, "sly", "interactive", NOW.timestamp() - 60),
            end_row(rejected, NOW.timestamp(), seconds=0, ending=Ending.REJECTED),
        )
    )
    path = tmp_path / "unmask" / "unmask.db"
    engine = open_database(database_url(str(path), {}))
    with engine.begin() as connection:
        connection.execute(insert(REQUESTS), [request for request, _ in rows])
        connection.execute(insert(ENDS), [end for _, end in rows])
    engine.dispose()
    return path


def test_the_tenant_that_is_unlike_its_class_is_named() -> None:
    """People see who, which class it looks like, and the figures beside those of both classes."""
    ended = type_in("tenants", "report", "--days", "2", now=lambda: NOW)

    assert ended.code == 0
    assert "sly" in ended.out
    assert "ann" not in ended.out
    assert "1 of 5 comparisons name a tenant, 0 lack data" in ended.err


def test_machines_read_every_comparison() -> None:
    """Those that name nobody too."""
    found = json.loads(type_in("tenants", "report", "--json", now=lambda: NOW).out)
    named = [one for one in found["compared"] if one["is_named"]]

    assert len(found["compared"]) == 5
    assert [(one["tenant"], one["asks_for"], one["compared_with"]) for one in named] == [
        ("sly", "interactive", "batch")
    ]
    assert named[0]["hours"] == HOURS
    assert named[0]["position"]["low"] > 0.5
    assert named[0]["features"]["prompt_tokens"]["tenant"] == pytest.approx(40)
    assert named[0]["features"]["requests"]["tenant"] > 4 * named[0]["features"]["requests"]["asked"]


def test_only_the_days_that_are_asked_for_count(database: Path) -> None:
    """And only requests that ran: one that was turned away says nothing of what it would have taken."""
    engine = open_database(database_url(str(database), {}))
    traffic = list(booked_since(engine, NOW.timestamp() - HOUR_S))
    every = list(booked_since(engine, 0))
    engine.dispose()

    assert {one.tenant for one in traffic} == {"ann", "bob", "sly", "nightly", "weekly"}
    assert len(traffic) * HOURS == pytest.approx(len(every), rel=0.2)
    assert traffic[0] == Booked(
        tenant=traffic[0].tenant,
        service_class=traffic[0].service_class,
        begun=NOW.timestamp() - HOUR_S,
        seconds=20,
        prompt_tokens=40,
        steps=8,
    )
    assert max(one.begun for one in every) < NOW.timestamp() - 60
