"""Behaviour of the migrations of a ledger that has rows."""

from sqlalchemy import text

from tests.ledger.databases import World
from unmask.database.engine import open_database
from unmask.ledger.limit import Limit, LimitKind
from unmask.ledger.settlement import Purpose
from unmask.ledger.tables import COUNTERS, ENDS
from unmask.testing.ledgers import make_attempt, make_reservation, make_settlement

LIMIT = Limit(scope="tenant:acme", kind=LimitKind.STEPS, window_s=3_600, amount=1_000)
BEFORE = (
    "ALTER TABLE ledger_end DROP COLUMN steps_verification",
    "ALTER TABLE ledger_end DROP COLUMN cost_verification",
    "ALTER TABLE ledger_counter DROP COLUMN held",
    "ALTER TABLE ledger_attempt DROP COLUMN model",
    "UPDATE alembic_version SET version_num = '0002'",
)


async def test_what_is_kept_since_is_counted_for_what_was_there(world: World) -> None:
    """Samples of requests that have ended, and what requests that run have reserved: the books are in order again."""
    sample = make_attempt(purpose=Purpose.VERIFICATION)
    async with world.ledger() as ledger:
        ended = await ledger.reserve(make_reservation(), (LIMIT,))
        await ledger.settle(make_settlement(ended.id, attempts=(make_attempt(), sample)))
        await ledger.reserve(make_reservation(), (LIMIT,))
        engine = world.engine()
        with engine.begin() as connection:
            for statement in BEFORE:
                connection.execute(text(statement))
        engine.dispose()
        open_database(world.url).dispose()

        assert [(row["steps_verification"], row["cost_verification"]) for row in world.rows(ENDS)] == [(10, 42)]
        assert [row["held"] for row in world.rows(COUNTERS)] == [100]
        assert world.verify().faults == ()
