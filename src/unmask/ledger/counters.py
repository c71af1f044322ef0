"""The counters of limits while a batch is booked: read once, changed in memory, written once."""

from collections.abc import Iterable

from sqlalchemy import Connection, bindparam, insert, update

from unmask.database.prepared import Prepared
from unmask.ledger.charges import SECOND_US, Charge, Used, asked, counter_of, kept
from unmask.ledger.errors import LimitExceededError
from unmask.ledger.known import known_counters
from unmask.ledger.limit import Limit, LimitKind, Standing
from unmask.ledger.reservation import Reservation
from unmask.ledger.tables import COUNTERS

_INSERT = Prepared(insert(COUNTERS))
_UPDATE = Prepared(update(COUNTERS).where(COUNTERS.c.id == bindparam("_id")).values(used=bindparam("_used")))
CONCURRENCY_RETRY_S = 1.0
"""Nobody knows when a running request ends; this soon it is worth asking again."""


class Counters:
    """What is used or reserved of each limit. Nothing else may write meanwhile; see `unmask.database.transactions`."""

    def __init__(self, connection: Connection, time_us: int) -> None:
        self._connection = connection
        self._time_us = time_us
        self._used: dict[str, int] = {}
        self._stored: dict[str, int] = {}
        self._ends: dict[str, int] = {}

    def load(self, counters: Iterable[str]) -> None:
        """Read the counters that are to be asked or changed."""
        self._stored = known_counters(self._connection, counters)
        self._used = dict(self._stored)

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
            before = charges[counter].amount if counter in charges else 0
            self._used[counter] = self._used.get(counter, 0) - before + charge.amount
            self._ends[counter] = ends_us
            charges[counter] = charge
        return list(charges.values())

    def release(self, charges: Iterable[Charge], used: Used) -> None:
        """Give back what an ended request has not used; a counter that was swept away stays so."""
        for charge in charges:
            if charge.counter in self._used:
                self._used[charge.counter] += kept(charge, used) - charge.amount

    def standings(self, limits: Iterable[Limit]) -> tuple[Standing, ...]:
        """Return how limits stand now."""
        return tuple(self._standing(limit) for limit in limits)

    def write(self) -> None:
        """Write what has changed."""
        new = [counter for counter in self._used if counter not in self._stored]
        old = [counter for counter, used in self._stored.items() if self._used[counter] != used]
        if new:
            rows = [{"id": name, "ends_us": self._ends[name], "used": self._used[name]} for name in new]
            _INSERT.each(self._connection, rows)
        _UPDATE.each(self._connection, [{"_id": name, "_used": self._used[name]} for name in old])

    def _refusal(self, limit: Limit, reservation: Reservation, cost: int | None) -> LimitExceededError | None:
        standing, amount = self._standing(limit), asked(limit, reservation, cost)
        if standing.used + amount <= limit.amount:
            return None
        wait = CONCURRENCY_RETRY_S if limit.kind is LimitKind.CONCURRENCY else standing.reset_s
        return LimitExceededError(
            limit, used=standing.used, asked=amount, retry_after_s=None if amount > limit.amount else wait
        )

    def _standing(self, limit: Limit) -> Standing:
        counter, ends_us = counter_of(limit, self._time_us)
        reset_s = (ends_us - self._time_us) / SECOND_US if ends_us else 0.0
        return Standing(limit=limit, used=self._used.get(counter, 0), reset_s=reset_s)


def _wait(error: LimitExceededError) -> float:
    return float("inf") if error.retry_after_s is None else error.retry_after_s
