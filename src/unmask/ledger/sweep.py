"""Takes away what no reservation asks for any more: counters of windows long past, idempotency keys long used."""

from sqlalchemy import Connection, delete, select, update

from unmask.clock import Clock, WallClock
from unmask.ledger.batch import NAME_S
from unmask.ledger.charges import SECOND_US
from unmask.ledger.tables import COUNTERS, HEAD, NAMES

KEPT_S = 2 * 86_400
"""Seconds that a counter stays after its window: as far as the time of day may be set back without harm."""
EVERY_S = 600.0
TRUSTED_S = 60.0
"""How far the time of day may have moved against the monotonic clock: one that jumped ahead would sweep too much."""


class Sweeper:
    """Sweeps now and then."""

    def __init__(self, clock: Clock, wall: WallClock) -> None:
        self._clock = clock
        self._wall = wall
        self._origin = wall.time() - clock.now()
        self._swept = clock.now()

    def sweep(self, connection: Connection) -> None:
        """Sweep, if it is time to and the time of day can be trusted."""
        now, time = self._clock.now(), self._wall.time()
        if now - self._swept < EVERY_S:
            return
        self._swept = now
        if abs(time - now - self._origin) > TRUSTED_S:
            return
        horizon = round((time - KEPT_S) * SECOND_US)
        connection.execute(delete(COUNTERS).where(COUNTERS.c.ends_us > 0, COUNTERS.c.ends_us < horizon))
        connection.execute(delete(NAMES).where(NAMES.c.time_us < round((time - NAME_S) * SECOND_US)))
        if connection.execute(select(HEAD.c.swept_us)).scalar_one() < horizon:
            connection.execute(update(HEAD).values(swept_us=horizon))
