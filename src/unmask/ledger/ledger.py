"""What a ledger does, whatever it is kept in."""

from collections.abc import Sequence
from typing import Protocol

from unmask.ledger.limit import Limit
from unmask.ledger.rejection import Rejection
from unmask.ledger.reservation import Reservation, Reserved
from unmask.ledger.settlement import Settled, Settlement


class Ledger(Protocol):
    """Books requests. Each call returns when what it books is durable, and raises when it is not booked.

    The promise: the reservation is durable before the first output byte; settled before the last.
    """

    @property
    def fails(self) -> bool:
        """Whether nothing can be booked at present, so that nothing is answered."""
        ...

    async def reserve(self, reservation: Reservation, limits: Sequence[Limit] = ()) -> Reserved:
        """Book the worst case of a request, if all limits have room for it, now and together.

        One that does not fit is booked as rejected before the error is raised. A caller that is cancelled meanwhile
        holds nothing: what was reserved for it is given back.

        Raises:
            LimitExceededError: a limit has no room.
            DuplicateRequestError, IdempotencyMismatchError: its idempotency key was used before.
            LedgerUnavailableError: it could not be booked in time, or too many wait.
            UnwritableRowError: the database refuses its values.
        """
        ...

    async def settle(self, settlement: Settlement) -> Settled:
        """Book what a request has used, and give back what it has not.

        It is booked even if the caller is cancelled or does not wait for it: settling goes on until it succeeds.

        Raises:
            LedgerUnavailableError: it is not booked yet, so the last byte must be withheld.
            ReservationLostError: it was ended as lost meanwhile; the same holds.
            AlreadySettledError, UnknownReservationError: there is nothing to settle.
            UnwritableRowError: the database refuses its values; it is booked as failed instead, and the platform pays.
        """
        ...

    async def reject(self, rejection: Rejection) -> None:
        """Book a request that is turned away.

        Raises:
            LedgerUnavailableError: it could not be booked in time, or too many wait.
        """
        ...

    async def close(self) -> None:
        """Book what waits, and stop.

        Raises:
            LedgerUnavailableError: names how much could not be booked; it ends as lost.
        """
        ...
