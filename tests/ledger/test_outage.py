"""The database gone under load, and memory over many requests: what takes long to show."""

import asyncio
import gc
import sqlite3
import time
import tracemalloc
from collections.abc import Callable

import pytest

from tests.ledger.databases import Databases, World
from unmask.ledger.book import DatabaseLedger, Patience
from unmask.ledger.errors import LedgerUnavailableError
from unmask.ledger.limit import Limit, LimitKind
from unmask.ledger.tables import ENDS, OPEN
from unmask.testing.ledgers import make_reservation, make_settlement

pytestmark = pytest.mark.slow

GONE_S = 10.0
CALLERS = 20
AT_ONCE = Limit(scope="tenant:acme", kind=LimitKind.CONCURRENCY, amount=CALLERS)


async def gone_under_load(world: World, go: Callable[[], None], come: Callable[[], None]) -> None:
    """Take the database away for ten seconds; nothing may be answered that is not booked, and all goes on."""
    answered: set[str] = set()
    refused = 0
    is_over = asyncio.Event()

    async def call(ledger: DatabaseLedger) -> None:
        nonlocal refused
        while not is_over.is_set():
            try:
                reserved = await ledger.reserve(make_reservation(), (AT_ONCE,))
            except LedgerUnavailableError:
                refused += 1
                await asyncio.sleep(0.01)
                continue
            await ledger.settle(make_settlement(reserved.id))
            answered.add(reserved.id)
            await asyncio.sleep(0.01)

    patience = Patience(reserve_s=1, settle_s=120, lease_s=3_600)
    async with world.ledger(patience=patience) as ledger:
        callers = [asyncio.create_task(call(ledger)) for _ in range(CALLERS)]
        await asyncio.sleep(1)
        await asyncio.to_thread(go)
        await asyncio.sleep(GONE_S)
        assert refused
        await asyncio.to_thread(come)
        back = len(answered)
        # What is waited for is counted by the callers.
        while len(answered) < back + 5 * CALLERS and not any(caller.done() for caller in callers):  # noqa: ASYNC110
            await asyncio.sleep(0.1)
        is_over.set()
        await asyncio.gather(*callers)

    ends = {row["request"]: row["ending"] for row in world.rows(ENDS)}
    assert {ends[request] for request in answered} == {"completed"}
    assert world.count(OPEN) == 0
    assert world.verify().faults == ()


async def test_a_server_that_is_gone_for_ten_seconds(databases: Databases) -> None:
    """PostgreSQL killed, with all its connections, and started again."""
    world = World(databases.make("postgresql"))
    server = databases.server()
    await gone_under_load(world, server.kill, server.start)


async def test_a_file_that_cannot_be_written_for_ten_seconds(file_world: World) -> None:
    """Another program holds it for longer than anyone waits for a lock."""
    other = sqlite3.connect(str(file_world.url.database), isolation_level=None, check_same_thread=False, timeout=60)
    await gone_under_load(file_world, lambda: _run(other, "BEGIN EXCLUSIVE"), lambda: _run(other, "ROLLBACK"))
    other.close()


def _run(connection: sqlite3.Connection, statement: str) -> None:
    connection.execute(statement)


async def test_ten_thousand_requests_with_flat_memory(file_world: World) -> None:
    """The ledger keeps nothing of a request that has ended."""
    async with file_world.ledger() as ledger:

        async def call(count: int) -> None:
            for _ in range(count):
                reserved = await ledger.reserve(make_reservation(), (AT_ONCE,))
                await ledger.settle(make_settlement(reserved.id))

        async def measure(count: int) -> int:
            await asyncio.gather(*(call(count) for _ in range(CALLERS)))
            gc.collect()
            return tracemalloc.get_traced_memory()[0]

        tracemalloc.start()
        try:
            before = await measure(100)
            after = await measure(400)
        finally:
            tracemalloc.stop()

    assert after - before < 1 << 20


async def test_the_next_server_serves_within_five_seconds_of_a_thousand_orphans(world: World) -> None:
    """Opening ends what a crash left, however much that is."""
    engine = world.engine()
    dying = world.open(engine)
    await asyncio.gather(*(dying.reserve(make_reservation()) for _ in range(1_500)))
    dying._processes.leave = lambda connection: None  # type: ignore[method-assign]
    dying._writer.close()
    engine.dispose()
    world.machine.end()
    started = time.process_time()
    async with world.ledger() as ledger:
        await ledger.reserve(make_reservation())

    # Of our own processor time, which other programs do not stretch.
    assert time.process_time() - started < 5
    assert world.verify().faults == ()
