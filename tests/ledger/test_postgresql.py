"""The ledger on a real PostgreSQL server: one code path; `make test-all` runs all of its tests there."""

from datetime import UTC, datetime, timedelta

from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from tests.ledger.databases import Databases, World, settled
from unmask.ledger.errors import LimitExceededError
from unmask.ledger.limit import Limit, LimitKind
from unmask.ledger.report import By, Period, make_report
from unmask.ledger.reservation import Reserved
from unmask.ledger.tables import METADATA
from unmask.testing.ledgers import make_reservation, make_settlement

AT_ONCE = Limit(scope="tenant:acme", kind=LimitKind.CONCURRENCY, amount=3)


async def test_on_a_real_server(databases: Databases) -> None:
    """Tables as on a file; limits hold, books balance, reports add up."""
    world = World(databases.make("postgresql"))
    with world.reading() as connection:
        differences = compare_metadata(MigrationContext.configure(connection), METADATA)
    assert [change for change in differences if not str(change[0]).startswith("remove")] == []
    async with world.ledger() as ledger:
        results = await settled(*(ledger.reserve(make_reservation(), (AT_ONCE,)) for _ in range(8)))
        admitted = [result for result in results if isinstance(result, Reserved)]
        await settled(*(ledger.settle(make_settlement(one.id)) for one in admitted))
    now = datetime.fromtimestamp(world.wall.time(), UTC)
    with world.reading() as connection:
        period = Period(start=now - timedelta(days=1), end=now + timedelta(days=1))
        costs = {by: sum(line.now.cost for line in make_report(connection, by, period).lines) for by in By}

    assert [type(result) for result in results].count(LimitExceededError) == 5
    assert costs == dict.fromkeys(By, 3 * 42)
    assert world.verify().faults == ()
