"""The counters of limits while a batch is booked: read once, changed in memory, written once."""

from collections.abc import Iterable

from sqlalchemy import Connection, bindparam, insert, update

from unmask.database.prepared import Prepared
from unmask.ledger.charges import SECOND_US, Charge, Used, asked, counter_of, kept
from unmask.ledger.errors import LimitExceededError
from unmask.ledger.known import Level, known_counters
from unmask.ledger.limit import Limit, Standing
from unmask.ledger.reservation import Reservation
from unmask.ledger.tables import COUNTERS

_INSERT = Prepared(insert(COUNTERS))
_UPDATE = Prepared(
    update(COUNTERS).where(COUNTERS.c.id == bindparam("_id")).values(used=bindparam("_used"), held=bindparam("_held"))
)
RUNNING_RETRY_S = 1.0
"""Nobody knows when a running request ends; this soon it is worth asking again."""


class Counters:
    """What is used or reserved of each limit. Nothing else may write meanwhile; see `unmask.database.transactions`."""

    def __init__(self, connection: Connection, time_us: int) -> None:
        self._connection = connection
        self._time_us = time_us
        self._levels: dict[str, Level] = {}
        self._stored: dict[str, Level] = {}
        self._ends: dict[str, int] = {}

    def load(self, counters: Iterable[str]) -> None:
        """Read the counters that are to be asked or changed."""
        self._stored = known_counters(self._connection, counters)
        self._levels = dict(self._stored)

    def refusal(self, reservation: Reservation, limits: Iterable[Limit], cost: int | None) -> LimitExceededError | None:
        """Return the error of the limit that has no room for longest; ``None`` if all have room."""
        refused = [found for limit in limits if (found := self._refusal(limit, reservation, cost)) is not None]
        return max(refused, key=_wait, default=None)

    def reserve(self, reservation: Reservation, limits: Iterable[Limit], cost: int | None) -> list[Charge]:
        """Take up what a reservation asks for, which `refusal` has found room for."""
        charges: dict[str, Charge] = {}
        for limit in limits:
            counter, ends_us = counter_of(limit, self._time_us)
            charge = Charge(counter, limit.kind, asked(limit, reservation, cost))
            # Of two limits on the same, the tighter decides; what is used counts once.
            if counter in charges and charges[counter].amount >= charge.amount:
                continue
            more = charge.amount - (charges[counter].amount if counter in charges else 0)
            level = self._level(counter)
            self._levels[counter] = Level(level.used + more, level.held + more)
            self._ends[counter] = ends_us
            charges[counter] = charge
        return list(charges.values())

    def release(self, charges: Iterable[Charge], used: Used) -> None:
        """Give back what an ended request has not used; a counter that was swept away stays so."""
        for charge in charges:
            level = self._levels.get(charge.counter)
            if level is not None:
                left = level.used - charge.amount + kept(charge, used)
                self._levels[charge.counter] = Level(left, level.held - charge.amount)

    def standings(self, limits: Iterable[Limit]) -> tuple[Standing, ...]:
        """Return how limits stand now."""
        return tuple(self._standing(limit) for limit in limits)

    def write(self) -> None:
        """Write what has changed."""
        new = [name for name in self._levels if name not in self._stored]
        old = [name for name, stored in self._stored.items() if self._levels[name] != stored]
        _INSERT.each(
            self._connection,
            [
                {"id": name, "ends_us": self._ends[name], "used": level.used, "held": level.held}
                for name, level in self._named(new)
            ],
        )
        _UPDATE.each(
            self._connection,
            [{"_id": name, "_used": level.used, "_held": level.held} for name, level in self._named(old)],
        )

    def _named(self, names: Iterable[str]) -> Iterable[tuple[str, Level]]:
        return ((name, self._levels[name]) for name in names)

    def _refusal(self, limit: Limit, reservation: Reservation, cost: int | None) -> LimitExceededError | None:
        standing, amount = self._standing(limit), asked(limit, reservation, cost)
        if standing.used + amount <= limit.amount:
            return None
        is_held = self._level(counter_of(limit, self._time_us)[0]).frees(limit, amount)
        wait = standing.reset_s
        if is_held:
            wait = min(RUNNING_RETRY_S, wait) if limit.window_s else RUNNING_RETRY_S
        return LimitExceededError(
            limit,
            used=standing.used,
            asked=amount,
            retry_after_s=None if amount > limit.amount else wait,
            is_held=is_held,
        )

    def _standing(self, limit: Limit) -> Standing:
        counter, ends_us = counter_of(limit, self._time_us)
        reset_s = (ends_us - self._time_us) / SECOND_US if ends_us else 0.0
        return Standing(limit=limit, used=self._level(counter).used, reset_s=reset_s)

    def _level(self, counter: str) -> Level:
        return self._levels.get(counter, Level())


def _wait(error: LimitExceededError) -> float:
    return float("inf") if error.retry_after_s is None else error.retry_after_s
