"""Behaviour of `unmask.ledger.processes`: requests of processes that have ended, and of those that only seem to."""

import pytest

from tests.ledger.databases import World, crash
from unmask.ledger.errors import ReservationLostError
from unmask.ledger.limit import Limit, LimitKind
from unmask.ledger.processes import Processes
from unmask.ledger.tables import ENDS, OPEN, PROCESSES
from unmask.testing.ledgers import ManualMachine, make_reservation, make_settlement
from unmask.testing.manual_clock import ManualClock

LIMITS = (
    Limit(scope="tenant:acme", kind=LimitKind.CONCURRENCY, amount=2),
    Limit(scope="tenant:acme", kind=LimitKind.COST, window_s=3_600, amount=1_000),
    Limit(scope="tenant:acme", kind=LimitKind.REQUESTS, window_s=3_600, amount=2),
)


async def test_orphans_of_a_crash_end_as_lost_and_charged_to_nobody(world: World) -> None:
    """They are booked to the platform at what was reserved, and every limit they took up is free again."""
    engine = world.engine()
    dead = world.open(engine)
    settled = await dead.reserve(make_reservation())
    await dead.settle(make_settlement(settled.id))
    orphans = [await dead.reserve(make_reservation(idempotency_key=name), LIMITS) for name in ("a", "b")]
    crash(dead)
    engine.dispose()
    assert world.count(OPEN) == 2
    world.machine.end()

    async with world.ledger() as ledger:
        ends = {row["request"]: row for row in world.rows(ENDS)}
        assert world.count(OPEN) == 0
        assert ends[settled.id]["ending"] == "completed"
        for orphan in orphans:
            end = ends[orphan.id]
            assert (end["ending"], end["payer"], end["cost"], end["steps"]) == ("lost", "platform", 403, 0)
        again = await ledger.reserve(make_reservation(idempotency_key="a"), LIMITS)
        assert [standing.used for standing in again.standings] == [1, 403, 1]
    assert world.verify().faults == ()


async def test_live_processes_do_not_reap_each_other(world: World) -> None:
    """A second server on the same database leaves the first one's running requests alone."""
    async with world.ledger() as first:
        running = await first.reserve(make_reservation())
        async with world.ledger() as second:
            await second.reserve(make_reservation())
            assert world.count(OPEN) == 2
        assert [row["request"] for row in world.rows(OPEN)] == [running.id]
        await first.settle(make_settlement(running.id))
    assert world.verify().faults == ()
    assert world.count(PROCESSES) == 0


async def test_a_process_that_was_taken_for_dead_is_told(world: World) -> None:
    """Its answer must not go out, and what it reserves afterwards is its own again."""
    async with world.ledger() as stalled:
        lost = await stalled.reserve(make_reservation())
        world.machine.end()
        async with world.ledger() as other:
            with pytest.raises(ReservationLostError, match="must not go out"):
                await stalled.settle(make_settlement(lost.id))
            later = await stalled.reserve(make_reservation())
            await other.reserve(make_reservation())
            await stalled.settle(make_settlement(later.id))
    assert world.verify().faults == ()


class Watcher:
    """One process's view of another, by a clock that stands still until moved."""

    def __init__(self, world: World) -> None:
        self.clock = ManualClock()
        self.engine = world.engine()
        self.world = world
        self.me, self.other = (self._process(name) for name in ("me", "other"))
        for process in (self.me, self.other):
            with self.engine.begin() as connection:
                process.beat(connection)

    def _process(self, name: str) -> Processes:
        return Processes(ManualMachine(), lambda: name, lambda _, __: None, clock=self.clock, lease_s=15, beat_s=2)

    def look(self, seconds: float, *, other_beats: bool = False) -> list[str]:
        """Let time pass in small steps, looking at each, and return who is left."""
        for _ in range(int(seconds)):
            self.clock.advance(1)
            with self.engine.begin() as connection:
                if other_beats:
                    self.other.beat(connection)
                if self.me.is_due():
                    self.me.reap(connection)
        return sorted(row["id"] for row in self.world.rows(PROCESSES))


def test_a_silent_process_is_dead_after_its_lease(file_world: World) -> None:
    """Not before, and not by the time of day."""
    watcher = Watcher(file_world)
    file_world.wall.set(file_world.wall.time() + 10**6)

    assert watcher.look(14) == ["me", "other"]
    assert watcher.look(6) == ["me"]


def test_a_process_lives_as_long_as_it_beats(file_world: World) -> None:
    """A request may run for longer than any lease."""
    watcher = Watcher(file_world)

    assert watcher.look(100, other_beats=True) == ["me", "other"]


def test_time_that_nobody_could_beat_in_does_not_count(file_world: World) -> None:
    """After the database was gone, or this process stood still, all others are watched anew."""
    watcher = Watcher(file_world)
    watcher.look(10)
    watcher.me.missed()
    assert watcher.look(14) == ["me", "other"]
    watcher.clock.advance(100)
    assert watcher.look(3) == ["me", "other"]
    assert watcher.look(20) == ["me"]


def test_many_orphans_are_ended_piece_by_piece(file_world: World) -> None:
    """No transaction ends more than its share, and none is left in the end."""
    engine = file_world.engine()
    ended: list[int] = []
    processes = Processes(
        ManualMachine(),
        lambda: "me",
        lambda connection, ids: _forget(connection, ids, ended),
        clock=ManualClock(),
        lease_s=15,
        beat_s=2,
    )
    with engine.begin() as connection:
        connection.exec_driver_sql("PRAGMA defer_foreign_keys = ON")
        connection.exec_driver_sql(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500) "
            "INSERT INTO ledger_open SELECT 'r' || i, 'me' FROM n"
        )
        processes.beat(connection)
        processes.leave(connection)

    assert ended == [1000, 1000, 500]
    assert file_world.count(PROCESSES) == 0
    engine.dispose()


def _forget(connection: object, ids: object, ended: list[int]) -> None:
    assert hasattr(connection, "execute")
    names = list(ids)  # type: ignore[call-overload]
    ended.append(len(names))
    connection.execute(OPEN.delete().where(OPEN.c.request.in_(names)))
