"""Which processes write to the ledger, and what becomes of the requests of those that have ended.

A process is at work for as long as its beat rises, seen by another one's monotonic clock: what the time of day does,
and how long a request runs, makes no difference. One that is known to have ended, on the same machine, is not waited
for.
"""

from collections.abc import Callable, Sequence

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from unmask.clock import Clock
from unmask.database.prepared import Prepared
from unmask.ledger.machine import Identity, Machine
from unmask.ledger.tables import OPEN, PROCESSES

AT_ONCE = 1_000
"""Requests that are ended in one transaction, so that running ones wait for none of them for long."""

_BEAT = Prepared(update(PROCESSES).where(PROCESSES.c.id == bindparam("_id")).values(beat=PROCESSES.c.beat + 1))
_KNOWN = Prepared(select(PROCESSES.c.pid).where(PROCESSES.c.id == bindparam("_id")))

Lose = Callable[[Connection, Sequence[str]], None]


class Processes:
    """This process among those that write to one ledger.

    Args:
        lose: ends running requests as lost.
        lease_s: how long another process's beat may stand still before its requests are ended.
        beat_s: how often to look at the others.
    """

    def __init__(
        self, machine: Machine, make_id: Callable[[], str], lose: Lose, *, clock: Clock, lease_s: float, beat_s: float
    ) -> None:
        assert lease_s > 2 * beat_s, "a process that is alive must not look dead"
        self._machine = machine
        self._make_id = make_id
        self._lose = lose
        self._clock = clock
        self._lease_s = lease_s
        self._beat_s = beat_s
        self._id = make_id()
        self._looked = clock.now()
        self._seen: dict[str, tuple[int, float]] = {}

    @property
    def id(self) -> str:
        """Names this process, as its rows do; another one after it was taken for dead."""
        return self._id

    def beat(self, connection: Connection) -> None:
        """Give a sign of life; how often is `is_due`. What `be_known` says of names holds here too."""
        if not _BEAT.count(connection, {"_id": self._id}):
            self._begin(connection)

    def be_known(self, connection: Connection) -> None:
        """See to it that this process has its row, in the same transaction as what is written in its name.

        If others have ended this process's requests meanwhile it goes on under another name: theirs stay ended.
        """
        if not _KNOWN.rows(connection, {"_id": self._id}):
            self._begin(connection)

    def _begin(self, connection: Connection) -> None:
        self._id = self._make_id()
        me = self._machine.me()
        row = {"id": self._id, "machine": me.machine, "pid": me.pid, "began": me.began, "beat": 0}
        connection.execute(insert(PROCESSES), [row])

    def is_due(self) -> bool:
        """Tell whether it is time to look at the others."""
        return self._clock.now() - self._looked >= self._beat_s

    def missed(self) -> None:
        """Note that the others could not be looked at: nobody could beat either, so all are watched anew."""
        self._looked = self._clock.now()
        self._seen.clear()

    def reap(self, connection: Connection) -> bool:
        """End requests of processes that have ended; returns whether there are more."""
        now = self._clock.now()
        if now - self._looked > self._lease_s / 2:
            self._seen.clear()
        self._looked = now
        others = connection.execute(select(PROCESSES).where(PROCESSES.c.id != self._id)).all()
        self._seen = {row.id: self._watched(row.id, row.beat, now) for row in others}
        has_more = False
        for row in others:
            identity = Identity(machine=row.machine, pid=row.pid, began=row.began)
            if now - self._seen[row.id][1] >= self._lease_s or self._machine.has_ended(identity):
                has_more |= self._end(connection, row.id)
        return has_more

    def leave(self, connection: Connection) -> None:
        """End what this process has left running, and take its name away."""
        while self._end(connection, self._id):
            pass

    def _watched(self, process: str, beat: int, now: float) -> tuple[int, float]:
        known = self._seen.get(process)
        return known if known is not None and known[0] == beat else (beat, now)

    def _end(self, connection: Connection, process: str) -> bool:
        running = select(OPEN.c.request).where(OPEN.c.process == process).order_by(OPEN.c.request).limit(AT_ONCE)
        ids = connection.execute(running).scalars().all()
        if ids:
            self._lose(connection, ids)
        if len(ids) == AT_ONCE:
            return True
        connection.execute(delete(PROCESSES).where(PROCESSES.c.id == process))
        return False
