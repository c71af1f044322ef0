"""Behaviour of `unmask.ledger.writer`: commits that fail, rows that are refused, callers that go away."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from sqlalchemy import Engine, create_engine, event

from tests.ledger.databases import PATIENT, World, settled
from unmask.ledger.book import DatabaseLedger, Patience
from unmask.ledger.errors import LedgerFullError, LedgerUnavailableError, LimitExceededError, UnwritableRowError
from unmask.ledger.limit import Limit, LimitKind
from unmask.ledger.owner import Owner
from unmask.ledger.reservation import Reserved
from unmask.ledger.tables import COUNTERS, ENDS, OPEN, REQUESTS
from unmask.ledger.writer import WriterLimits
from unmask.testing.ledgers import make_attempt, make_reservation, make_settlement
from unmask.testing.waiting import until

AT_ONCE = Limit(scope="tenant:acme", kind=LimitKind.CONCURRENCY, amount=1_000)
TOO_LARGE = 1 << 70
QUICK = WriterLimits(first_pause_s=0.001, longest_pause_s=0.01, close_s=0.05)


class Broken:
    """A database whose commits fail while told to, before or after they have happened."""

    def __init__(self, engine: Engine) -> None:
        self._commit: Callable[[Any], None] = engine.dialect.do_commit
        engine.dialect.do_commit = self._do_commit  # type: ignore[method-assign]
        self._error = engine.dialect.loaded_dbapi.OperationalError
        self.fails = 0
        self.after = False
        self.is_failing = threading.Event()

    def _do_commit(self, dbapi_connection: Any) -> None:  # noqa: ANN401 - the driver's
        if self.fails == 0:
            self._commit(dbapi_connection)
            return
        self.fails -= 1
        if self.after:
            self._commit(dbapi_connection)
        self.is_failing.set()
        raise self._error("server closed the connection unexpectedly")


@contextmanager
def broken_ledger(world: World, *, limits: WriterLimits = QUICK) -> Iterator[tuple[DatabaseLedger, Broken]]:
    """Open a ledger whose commits a test can make fail."""
    engine = world.engine()
    ledger = world.open(engine, limits=limits)
    broken = Broken(engine)
    try:
        yield ledger, broken
    finally:
        ledger._writer.close()
        engine.dispose()


@pytest.mark.parametrize("after", [False, True], ids=["before it happened", "after it happened"])
async def test_a_failing_commit_loses_nothing(world: World, after: bool) -> None:
    """What was drained is booked once the database is back, and booked once, whether the commit had happened or not."""
    with broken_ledger(world) as (ledger, broken):
        broken.after, broken.fails = after, 3
        reserved = await settled(*(ledger.reserve(make_reservation(), (AT_ONCE,)) for _ in range(5)))
        assert broken.fails == 0
        broken.fails = 3
        await settled(*(ledger.settle(make_settlement(one.id)) for one in reserved))
        broken.fails = 1
        with pytest.raises(LimitExceededError):
            await ledger.reserve(make_reservation(), (replace(AT_ONCE, amount=0),))

    assert world.verify().faults == ()
    assert (world.count(REQUESTS), world.count(ENDS)) == (6, 6)


async def test_a_ledger_says_that_it_cannot_be_written(file_world: World) -> None:
    """For as long as nothing can, so that requests are sent elsewhere; the first booking that holds ends that."""
    with broken_ledger(file_world) as (ledger, broken):
        assert not ledger.fails
        broken.fails = 1_000_000
        waiting = asyncio.create_task(ledger.reserve(make_reservation()))
        await until(lambda: ledger.fails)
        broken.fails = 0
        await waiting

        assert not ledger.fails


async def test_a_settlement_that_seemed_to_fail_is_no_double(world: World) -> None:
    """Its own earlier commit is found, and no error made of it."""
    with broken_ledger(world) as (ledger, broken):
        reserved = await ledger.reserve(make_reservation())
        broken.after, broken.fails = True, 1

        assert (await ledger.settle(make_settlement(reserved.id))).cost == 42


@pytest.mark.parametrize(
    "poison", [{"steps": TOO_LARGE}, {"request_id": "half a pair: \ud800"}], ids=["number", "text"]
)
async def test_a_poison_row_fails_alone(world: World, poison: dict[str, Any]) -> None:
    """Rows beside it in the same batch are booked; its caller is told."""
    async with world.ledger() as ledger:
        good = [make_reservation(f"t{number}") for number in range(10)]
        bad = make_reservation(**poison)
        results = await settled(*(ledger.reserve(one, (AT_ONCE,)) for one in (*good[:5], bad, *good[5:])))

        assert [type(result).__name__ for result in results] == ["Reserved"] * 5 + ["UnwritableRowError"] + [
            "Reserved"
        ] * 5
        assert [row["used"] for row in world.rows(COUNTERS)] == [10]
    assert world.verify().faults == ()


async def test_a_poison_settlement_leaves_no_reservation(world: World) -> None:
    """It ends as failed, at the platform's cost, and its place is free."""
    async with world.ledger() as ledger:
        reserved = await ledger.reserve(make_reservation(), (AT_ONCE,))
        bad = make_settlement(reserved.id, attempts=(make_attempt(output_tokens=TOO_LARGE),))
        with pytest.raises(UnwritableRowError):
            await ledger.settle(bad)
    (row,) = world.rows(ENDS)

    assert (row["ending"], row["reason"], row["payer"]) == ("failed", "unwritable", "platform")
    assert [row["used"] for row in world.rows(COUNTERS)] == [0]
    assert world.verify().faults == ()


async def test_text_in_a_key_is_no_statement(world: World) -> None:
    """Whatever a client writes is a value."""
    text = "'; DROP TABLE ledger_request; --"
    async with world.ledger() as ledger:
        limit = replace(AT_ONCE, scope=f"user:{text}|{text}")
        await ledger.reserve(
            make_reservation(owner=Owner(user=text, tags=(text,)), idempotency_key=text, request_id=text), (limit,)
        )
    (row,) = world.rows(REQUESTS)

    assert (row["end_user"], row["request_id"], row["idempotency_key"]) == (text, text, text)
    assert world.verify().faults == ()


async def test_a_reservation_waits_no_longer_than_its_patience(world: World) -> None:
    """While the database is gone nothing is admitted; afterwards nothing of it is left, even where it was booked."""
    for after in (False, True):
        with broken_ledger(world) as (ledger, broken):
            broken.after, broken.fails = after, 10**6
            ledger._patience = Patience(reserve_s=0.05)
            with pytest.raises(LedgerUnavailableError, match=r"nothing could be booked for 0\.05 s"):
                await ledger.reserve(make_reservation(), (AT_ONCE,))
            broken.fails = 0
            ledger._patience = PATIENT
            later = await ledger.reserve(make_reservation(), (AT_ONCE,))
            assert later.standings[0].used == 1
            await ledger.settle(make_settlement(later.id))

    assert world.count(OPEN) == 0
    assert world.verify().faults == ()


async def test_a_settlement_goes_on_when_nobody_waits(world: World) -> None:
    """Its caller is told to withhold the last byte, and it is booked when the database is back."""
    with broken_ledger(world) as (ledger, broken):
        reserved = await ledger.reserve(make_reservation())
        ledger._patience = Patience(settle_s=0.05)
        broken.fails = 10**6
        with pytest.raises(LedgerUnavailableError):
            await ledger.settle(make_settlement(reserved.id))
        broken.fails = 0
        await ledger.reserve(make_reservation())

        assert [row["ending"] for row in world.rows(ENDS)] == ["completed"]


async def test_cancelled_before_it_is_booked(world: World) -> None:
    """A client that vanishes while its reservation waits holds nothing."""
    with broken_ledger(world) as (ledger, broken):
        broken.fails = 10**6
        first = asyncio.create_task(ledger.reserve(make_reservation(), (AT_ONCE,)))
        await asyncio.to_thread(broken.is_failing.wait)
        second = asyncio.create_task(ledger.reserve(make_reservation(), (AT_ONCE,)))
        await asyncio.sleep(0)
        first.cancel()
        second.cancel()
        await settled(first, second)
        broken.fails = 0
        await ledger.reserve(make_reservation(), (replace(AT_ONCE, amount=1),))

    assert world.verify().faults == ()


async def test_cancelled_at_each_turn_of_the_loop(world: World) -> None:
    """However late the caller is cancelled, either it has the reservation or there is none."""
    async with world.ledger() as ledger:
        for turns in range(12):
            task = asyncio.create_task(ledger.reserve(make_reservation(), (AT_ONCE,)))
            for _ in range(turns):
                await asyncio.sleep(0 if turns % 2 else 0.001)
            task.cancel()
            (result,) = await settled(task)
            if isinstance(result, Reserved):
                await ledger.settle(make_settlement(result.id))
        # What was withdrawn is settled by the time that a later booking is.
        for _ in range(2):
            last = await ledger.reserve(make_reservation(), (AT_ONCE,))
            await ledger.settle(make_settlement(last.id))
        assert world.count(OPEN) == 0
    assert world.verify().faults == ()


async def test_cancelled_when_its_result_is_there(world: World) -> None:
    """A cancellation that comes between the result and whoever waits for it gives the reservation back."""
    async with world.ledger() as ledger:
        deliver = ledger._deliver
        task: asyncio.Task[Reserved]

        def deliver_and_cancel(future: "asyncio.Future[Any]", result: Any) -> None:  # noqa: ANN401 - any result
            deliver(future, result)
            task.cancel()

        ledger._deliver = deliver_and_cancel  # type: ignore[method-assign]
        task = asyncio.create_task(ledger.reserve(make_reservation(), (AT_ONCE,)))
        (result,) = await settled(task)
        ledger._deliver = deliver  # type: ignore[method-assign]
        last = await ledger.reserve(make_reservation(), (AT_ONCE,))
        await ledger.settle(make_settlement(last.id))
        assert isinstance(result, asyncio.CancelledError)
        assert world.count(OPEN) == 0
    assert world.verify().faults == ()


def test_a_loop_that_is_gone_holds_nothing(file_world: World) -> None:
    """A reservation whose event loop ended before it was told is given back."""
    engine = file_world.engine()
    ledger = file_world.open(engine, limits=QUICK)
    broken = Broken(engine)
    broken.fails = 10**6

    async def leave() -> None:
        task = asyncio.create_task(ledger.reserve(make_reservation(), (AT_ONCE,)))
        await asyncio.to_thread(broken.is_failing.wait)
        del task

    asyncio.run(leave())
    broken.fails = 0
    ledger._writer.close()
    engine.dispose()

    assert file_world.count(OPEN) == 0
    assert file_world.verify().faults == ()


async def test_more_than_may_wait_are_refused_and_settlements_never(file_world: World) -> None:
    """The queue is bounded: one more is told at once to come back."""
    with broken_ledger(file_world, limits=replace(QUICK, waiting=3)) as (ledger, broken):
        running = await ledger.reserve(make_reservation())
        broken.fails = 10**6
        held = asyncio.create_task(ledger.reserve(make_reservation()))
        await asyncio.to_thread(broken.is_failing.wait)
        waiting = [asyncio.create_task(ledger.reserve(make_reservation())) for _ in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(LedgerFullError, match="allowed: 3"):
            await ledger.reserve(make_reservation())
        settling = asyncio.create_task(ledger.settle(make_settlement(running.id)))
        waiting[0].cancel()
        await asyncio.sleep(0)
        waiting.append(asyncio.create_task(ledger.reserve(make_reservation())))
        await asyncio.sleep(0)
        broken.fails = 0
        results = await settled(held, settling, *waiting)

    assert [type(result).__name__ for result in results] == [
        "Reserved", "Settled", "CancelledError", "Reserved", "Reserved", "Reserved",
    ]  # fmt: skip
    assert file_world.verify().faults == ()


async def test_closing_says_what_it_could_not_book(file_world: World) -> None:
    """It goes on trying for as long as it may, then names how many are not booked."""
    engine = file_world.engine()
    ledger = file_world.open(engine, limits=QUICK)
    reserved = await ledger.reserve(make_reservation())
    broken = Broken(engine)
    broken.fails = 10**6
    settling = asyncio.create_task(ledger.settle(make_settlement(reserved.id)))
    await asyncio.sleep(0)
    with pytest.raises(LedgerUnavailableError, match="1 bookings could not be made"):
        await ledger.close()
    with pytest.raises(LedgerUnavailableError, match="could not be booked"):
        await settling
    engine.dispose()


async def test_closing_books_what_waits(world: World) -> None:
    """A stop under load loses no settlement."""
    engine = world.engine()
    ledger = world.open(engine)
    reserved = await settled(*(ledger.reserve(make_reservation()) for _ in range(50)))
    settling = [asyncio.create_task(ledger.settle(make_settlement(one.id))) for one in reserved]
    await asyncio.sleep(0)
    await ledger.close()
    await settled(*settling)
    engine.dispose()

    assert [row["ending"] for row in world.rows(ENDS)] == ["completed"] * 50
    assert world.verify().faults == ()


async def test_a_full_disk_stops_bookings_and_loses_none(file_world: World) -> None:
    """Callers are told while there is no room; once there is, all is in order."""
    engine = file_world.engine()
    room = {"pages": 0}

    @event.listens_for(engine, "connect")
    def bound(connection: sqlite3.Connection, _: object) -> None:
        if room["pages"]:
            connection.execute(f"PRAGMA max_page_count = {room['pages']}")

    with engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
    engine.dispose()
    room["pages"] = pages + 2
    ledger = file_world.open(engine, limits=replace(QUICK, close_s=5), patience=Patience(reserve_s=1))
    full = []
    for _ in range(50):
        (result,) = await settled(ledger.reserve(make_reservation(request_id="x" * 500)))
        full.append(result)
        if isinstance(result, LedgerUnavailableError):
            break
    assert isinstance(full[-1], LedgerUnavailableError)
    room["pages"] = pages + 10_000
    engine.dispose()
    done = await settled(*(ledger.settle(make_settlement(one.id)) for one in full[:-1]))
    await ledger.close()
    engine.dispose()

    assert {type(result).__name__ for result in done} == {"Settled"}
    assert file_world.verify().faults == ()


async def test_another_writer_is_waited_for(file_world: World) -> None:
    """Another program's transaction on the same file delays bookings and fails none."""
    async with file_world.ledger() as ledger:
        other = create_engine(file_world.url)
        with other.connect() as connection:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            waiting = asyncio.create_task(ledger.reserve(make_reservation()))
            await asyncio.sleep(0.05)
            assert not waiting.done()
            connection.rollback()
        assert isinstance(await waiting, Reserved)
        other.dispose()


async def test_rows_are_in_the_order_they_were_asked_for(file_world: World) -> None:
    """Names of requests rise with time."""
    async with file_world.ledger() as ledger:
        names = []
        for _ in range(5):
            names.append((await ledger.reserve(make_reservation())).id)
            file_world.wall.set(file_world.wall.time() + 1)

    assert all(first < second for first, second in pairwise(names))
