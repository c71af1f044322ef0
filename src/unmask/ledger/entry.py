"""What waits to be booked."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from unmask.errors import UnmaskError
from unmask.ledger.limit import Limit
from unmask.ledger.rejection import Rejection
from unmask.ledger.reservation import Reservation, Reserved
from unmask.ledger.settlement import Settled, Settlement
from unmask.types import Outcome

WITHDRAWN = "withdrawn"

Result: TypeAlias = Reserved | Settled | UnmaskError | None
"""What becomes of an entry; an error that is booked, or that asks for no booking, is a result too."""


@dataclass(frozen=True, slots=True)
class Reserve:
    """A reservation, under an id of our own, with the limits it must fit into."""

    id: str
    reservation: Reservation
    limits: tuple[Limit, ...]


@dataclass(frozen=True, slots=True)
class Reject:
    """A rejection, under an id of our own."""

    id: str
    rejection: Rejection


@dataclass(frozen=True, slots=True)
class Settle:
    """A settlement."""

    settlement: Settlement

    @property
    def id(self) -> str:
        """The request's."""
        return self.settlement.id


Booking: TypeAlias = Reserve | Reject | Settle


@dataclass(slots=True, kw_only=True)
class Entry:
    """A booking and who waits for it.

    Attributes:
        tell: called in the writer's thread with what became of it.
        is_abandoned: whether nobody waits any more.
        was_tried: whether a transaction that holds it may have been committed, though it seemed to fail.
        tried: what that transaction made of it.
    """

    booking: Booking
    tell: Callable[[Result], None]
    is_abandoned: Callable[[], bool]
    was_tried: bool = False
    tried: Result = None


def unheard(settlement: Settlement) -> Entry:
    """Return a settlement that nobody waits for."""
    return Entry(booking=Settle(settlement), tell=lambda _: None, is_abandoned=lambda: False)


def withdrawal(request: str) -> Entry:
    """Return the settlement of a reservation that nobody holds: its caller went away before it was told."""
    return unheard(Settlement(id=request, outcome=Outcome.ABORTED, reason=WITHDRAWN))
