"""Behaviour of `unmask.ledger.sweep`: what nobody asks for goes, and nothing else."""

from tests.ledger.databases import World
from unmask.ledger.limit import Limit, LimitKind
from unmask.ledger.sweep import EVERY_S, KEPT_S, Sweeper
from unmask.ledger.tables import COUNTERS, NAMES
from unmask.testing.ledgers import make_reservation
from unmask.testing.manual_clock import ManualClock

DAY = Limit(scope="tenant:acme", kind=LimitKind.STEPS, window_s=86_400, amount=1_000)
AT_ONCE = Limit(scope="tenant:acme", kind=LimitKind.CONCURRENCY, amount=10)


async def test_counters_go_long_after_their_window(file_world: World) -> None:
    """Those of concurrency stay, verification knows, and a late settlement does not bring one back."""
    clock = ManualClock()
    async with file_world.ledger() as ledger:
        await ledger.reserve(make_reservation(idempotency_key="a"), (DAY, AT_ONCE))
        engine = file_world.engine()
        sweeper = Sweeper(clock, file_world.wall)

        def sweep(seconds: float) -> None:
            clock.advance(seconds)
            file_world.wall.set(file_world.wall.time() + seconds)
            with engine.begin() as connection:
                sweeper.sweep(connection)

        sweep(86_400)
        assert file_world.count(COUNTERS) == 2
        sweep(KEPT_S)
        assert [row["id"] for row in file_world.rows(COUNTERS)] == ["concurrency|0|0|tenant:acme"]
        assert file_world.count(NAMES) == 0
        assert file_world.verify().faults == ()
        engine.dispose()
    assert file_world.count(COUNTERS) == 1
    assert file_world.verify().faults == ()


async def test_a_time_of_day_that_jumped_ahead_sweeps_nothing(file_world: World) -> None:
    """What is swept too early would be spent twice."""
    clock = ManualClock()
    async with file_world.ledger() as ledger:
        await ledger.reserve(make_reservation(), (DAY,))
        engine = file_world.engine()
        sweeper = Sweeper(clock, file_world.wall)
        clock.advance(EVERY_S)
        file_world.wall.set(file_world.wall.time() + 10 * KEPT_S)
        with engine.begin() as connection:
            sweeper.sweep(connection)
        engine.dispose()

        assert file_world.count(COUNTERS) == 1
