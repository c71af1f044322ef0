"""Behaviour of `unmask.ledger.verify`: whatever is changed behind the ledger's back is found."""

import sqlite3

import pytest
from sqlalchemy import Executable, Table, delete, insert, select, update

from tests.ledger.databases import World
from unmask.ledger.limit import Limit, LimitKind
from unmask.ledger.owner import Owner
from unmask.ledger.price import Price, PriceBook
from unmask.ledger.rejection import Rejection
from unmask.ledger.settlement import Purpose
from unmask.ledger.tables import ATTEMPTS, COUNTERS, ENDS, EVENTS, HEAD, NAMES, OPEN, REQUESTS
from unmask.testing.ledgers import make_attempt, make_reservation, make_settlement

LIMIT = Limit(scope="tenant:acme", kind=LimitKind.STEPS, window_s=60, amount=1_000)


def last(table: Table, column: str) -> Executable:
    """Return the removal of a table's last row."""
    newest = select(table.c[column]).order_by(table.c[column].desc()).limit(1).scalar_subquery()
    return delete(table).where(table.c[column] == newest)


TAMPERED: dict[str, tuple[Executable, str]] = {
    "an event is gone": (delete(EVENTS).where(EVENTS.c.number == 2), "events 2 to 2 are missing"),
    "the last event is gone": (last(EVENTS, "number"), "events 5 to 5 are missing"),
    "an event is of another kind": (update(EVENTS).where(EVENTS.c.number == 2).values(kind="lost"), "has the events"),
    "the head is behind": (update(HEAD).values(number=3), "was never booked"),
    "an end is gone": (delete(ENDS).where(ENDS.c.ending == "completed"), "has no outcome and does not run"),
    "an attempt is gone": (delete(ATTEMPTS), "0 attempts, and 1 were booked"),
    "steps of an attempt": (update(ATTEMPTS).values(steps=11), "its attempts add up to 11"),
    "more than was reserved": (update(REQUESTS).values(steps=5), "reserved were 5"),
    "cost of an attempt": (update(ATTEMPTS).values(cost=1), "an attempt's cost is not what its prices say"),
    "cost of a request": (update(ENDS).values(cost=1), "its cost is 1"),
    "what was reserved": (update(REQUESTS).values(cost=1), "had 1 reserved"),
    "another price": (update(REQUESTS).values(price="other"), "of which the ledger has no prices"),
    "a limit is lower": (update(COUNTERS).values(used=0), "counts 0"),
    "a limit is gone": (delete(COUNTERS), "counts nothing"),
    "a limit holds more": (update(COUNTERS).values(held=5), "holds 5, requests that run have reserved"),
    "steps of samples": (
        update(ENDS).values(steps_verification=1),
        "steps_verification are 1, its attempts add up",
    ),
    "cost of samples": (update(ENDS).values(cost_verification=1), "cost_verification are 1, its attempts add up"),
    "running and ended": (
        insert(OPEN).from_select(["request", "process"], select(ENDS.c.request, ENDS.c.reason)),
        "and still runs",
    ),
    "a name of nothing": (
        update(NAMES).values(request="none"),
        "stands for no request",
    ),
    "a request is gone": (delete(REQUESTS), "of which there are attempts or events"),
    "lost and billed": (update(ENDS).values(ending="lost"), "is lost and booked to its owner"),
}


@pytest.mark.parametrize("name", TAMPERED)
async def test_what_was_changed_is_found(file_world: World, name: str) -> None:
    """Each figure is counted anew from rows that are never changed."""
    statement, fault = TAMPERED[name]
    async with file_world.ledger() as ledger:
        reserved = await ledger.reserve(make_reservation(idempotency_key="a"), (LIMIT,))
        await ledger.settle(make_settlement(reserved.id))
        await ledger.reject(Rejection(owner=Owner(tenant="acme"), reason="queue_full"))
        running = await ledger.reserve(make_reservation(), (LIMIT,))
        assert file_world.verify().faults == ()
        assert file_world.verify().running == 1
        await ledger.settle(make_settlement(running.id))
    assert file_world.verify().faults == ()
    engine = file_world.engine()
    with engine.connect() as connection:
        raw = connection.connection.driver_connection
        assert isinstance(raw, sqlite3.Connection)
        # Between transactions, where it counts.
        raw.execute("PRAGMA foreign_keys = OFF")
        connection.execute(statement)
        connection.commit()
    engine.dispose()

    found = file_world.verify()
    assert any(fault in one for one in found.faults), found.faults
    assert found.fault_count >= 1


async def test_attempts_of_two_models_cost_what_each_of_them_does(file_world: World) -> None:
    """In one request, reserved at the price of the route's name; a model changed behind the ledger's back is found."""
    file_world.prices = PriceBook(
        version="two",
        prices=tuple(
            Price(model=model, token_step=price, prefill_token=0)
            for model, price in (("auto", 500_000), ("nano", 50_000), ("tiny", 500_000))
        ),
    )
    attempts = (make_attempt(model="nano"), make_attempt(model="tiny", purpose=Purpose.RE_EXPANSION))
    async with file_world.ledger() as ledger:
        reserved = await ledger.reserve(make_reservation(model="auto"), (LIMIT,))
        settled = await ledger.settle(make_settlement(reserved.id, attempts=attempts))

    assert (reserved.cost, settled.cost) == (800, 8 + 80)
    assert [(row["model"], row["cost"]) for row in file_world.rows(ATTEMPTS)] == [("nano", 8), ("tiny", 80)]
    assert file_world.verify().faults == ()
    engine = file_world.engine()
    with engine.begin() as connection:
        connection.execute(update(ATTEMPTS).values(model="tiny"))
    engine.dispose()
    assert "an attempt's cost is not what its prices say" in file_world.verify().faults[0]


async def test_a_hit_of_the_cache_is_in_order(file_world: World) -> None:
    """It takes no step, has its own price, and never more than was reserved for the request."""
    file_world.prices = PriceBook(version="hits", prices=(Price(token_step=250_000, prefill_token=0, cache_hit=300),))
    hit = make_attempt(purpose=Purpose.CACHE, steps=0, steps_allocated=0, token_steps=0, prefill_tokens=0)
    costs = []
    async with file_world.ledger() as ledger:
        for attempts in ((hit,), (hit, hit), (make_attempt(), hit)):
            reserved = await ledger.reserve(make_reservation())
            settled = await ledger.settle(make_settlement(reserved.id, attempts=attempts))
            costs.append(settled.cost)

    # Reserved are 400 each, and the attempt that ran cost 40.
    assert costs == [300, 400, 340]
    assert file_world.verify().faults == ()


async def test_many_faults_are_counted_and_some_are_told(file_world: World) -> None:
    """A ledger that is all wrong makes no endless list."""
    async with file_world.ledger() as ledger:
        for _ in range(60):
            await ledger.settle(make_settlement((await ledger.reserve(make_reservation())).id))
    engine = file_world.engine()
    with engine.begin() as connection:
        connection.execute(update(ATTEMPTS).values(steps=11, cost=1))
    engine.dispose()
    found = file_world.verify()

    assert (len(found.faults), found.fault_count) == (100, 120)
