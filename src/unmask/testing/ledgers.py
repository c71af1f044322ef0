"""Bookings with every field filled in, a machine whose processes end when told to, and a ledger in memory."""

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

from unmask.ledger.errors import AlreadySettledError, LimitExceededError, UnknownReservationError
from unmask.ledger.limit import Limit, LimitKind, Standing
from unmask.ledger.machine import Identity
from unmask.ledger.owner import Owner
from unmask.ledger.rejection import Rejection
from unmask.ledger.reservation import Reservation, Reserved
from unmask.ledger.settlement import Attempt, Settled, Settlement
from unmask.types import Outcome


def make_reservation(tenant: str = "acme", **changes: Any) -> Reservation:  # noqa: ANN401 - any field of the reservation
    """Return the reservation of a short request: 100 steps of a canvas of 16 tokens, after 50 tokens of prompt."""
    fields: dict[str, Any] = {
        "owner": Owner(tenant=tenant),
        "service_class": "interactive",
        "task": "sort",
        "model": "tiny",
        "steps": 100,
        "token_steps": 1_600,
        "prefill_tokens": 50,
    }
    return Reservation(**(fields | changes))


def make_attempt(**changes: Any) -> Attempt:  # noqa: ANN401 - any field of the attempt
    """Return an attempt that took 10 of its 100 steps."""
    fields: dict[str, Any] = {"steps_allocated": 100, "steps": 10, "token_steps": 160, "prefill_tokens": 50}
    return Attempt(**(fields | changes))


def make_settlement(request: str, **changes: Any) -> Settlement:  # noqa: ANN401 - any field of the settlement
    """Return the settlement of a request that was answered at its first attempt."""
    fields: dict[str, Any] = {"outcome": Outcome.COMPLETED, "attempts": (make_attempt(),), "accepted": True}
    return Settlement(id=request, **(fields | changes))


class ManualWallClock:
    """A `unmask.clock.WallClock` for tests; it may be set back."""

    def __init__(self, start: float = 1_800_000_000.0) -> None:
        self._time = start

    def time(self) -> float:
        """Return the time it was last set to."""
        return self._time

    def set(self, time: float) -> None:
        """Set it, forward or back."""
        self._time = time


class ManualMachine:
    """A `unmask.ledger.machine.Machine` whose processes end when told to."""

    def __init__(self) -> None:
        self._pids = count(1)
        self._ended: set[int] = set()
        self._last = 0

    def me(self) -> Identity:
        """Return a process of its own for whoever asks."""
        self._last = next(self._pids)
        return Identity(machine="here", pid=self._last, began="0")

    def has_ended(self, identity: Identity) -> bool:
        """Tell whether a process was ended."""
        return identity.pid in self._ended

    def end(self, pid: int | None = None) -> None:
        """End a process, the one that asked last unless told."""
        self._ended.add(self._last if pid is None else pid)


class MemoryLedger:
    """A `unmask.ledger.ledger.Ledger` that keeps bookings in lists and counts limits without windows.

    Attributes:
        before: called with the name of a call before it does anything; may raise, as a database that is gone.
    """

    def __init__(self, before: Callable[[str], None] | None = None) -> None:
        self.reservations: dict[str, Reservation] = {}
        self.settlements: dict[str, Settlement] = {}
        self.rejections: list[Rejection] = []
        self.refusals: list[Reservation] = []
        self.is_closed = False
        self.fails = False
        self._before = before or (lambda _: None)
        self._ids = count(1)
        self._charges: dict[str, Sequence[Limit]] = {}

    async def reserve(self, reservation: Reservation, limits: Sequence[Limit] = ()) -> Reserved:
        """Keep a reservation, if its limits have room."""
        self._before("reserve")
        for limit in limits:
            used, asked = self._used(limit), reservation.steps if limit.kind is LimitKind.STEPS else 1
            if used + asked > limit.amount:
                self.refusals.append(reservation)
                raise LimitExceededError(limit, used=used, asked=asked, retry_after_s=1.0)
        request = f"request-{next(self._ids)}"
        self.reservations[request] = reservation
        self._charges[request] = limits
        standings = tuple(Standing(limit=limit, used=self._used(limit), reset_s=1.0) for limit in limits)
        return Reserved(id=request, cost=0, standings=standings)

    async def settle(self, settlement: Settlement) -> Settled:
        """Keep a settlement."""
        self._before("settle")
        if settlement.id not in self.reservations:
            raise UnknownReservationError(f"{settlement.id!r} is no request of this ledger")
        if settlement.id in self.settlements:
            raise AlreadySettledError(f"request {settlement.id} has ended already")
        self.settlements[settlement.id] = settlement
        return Settled(id=settlement.id, cost=0)

    async def reject(self, rejection: Rejection) -> None:
        """Keep a rejection."""
        self._before("reject")
        self.rejections.append(rejection)

    async def close(self) -> None:
        """Note that it was closed."""
        self.is_closed = True

    def _used(self, limit: Limit) -> int:
        """Return what is used or reserved under a scope; nothing costs anything."""
        holders = [name for name, limits in self._charges.items() if any(one.scope == limit.scope for one in limits)]
        match limit.kind:
            case LimitKind.REQUESTS:
                return len(holders)
            case LimitKind.CONCURRENCY:
                return sum(name not in self.settlements for name in holders)
            case LimitKind.STEPS:
                return sum(self._steps(name) for name in holders)
            case LimitKind.COST:
                return 0

    def _steps(self, request: str) -> int:
        settlement = self.settlements.get(request)
        if settlement is None:
            return self.reservations[request].steps
        return sum(attempt.steps for attempt in settlement.attempts)
