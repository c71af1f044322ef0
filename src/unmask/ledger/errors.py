"""What may go wrong with the ledger."""

from unmask.errors import RetryLaterError, UnmaskError
from unmask.ledger.limit import Limit, LimitKind
from unmask.ledger.settlement import Ending


class LedgerError(UnmaskError):
    """The ledger refuses what it is asked to book."""


class LedgerUnavailableError(RetryLaterError):
    """Nothing can be booked at present, so nothing may be answered."""


class LedgerFullError(LedgerUnavailableError):
    """As many bookings wait as may."""


class LimitExceededError(RetryLaterError):
    """A reservation does not fit into a limit; ``retry_after_s`` is ``None`` where no waiting helps."""

    def __init__(self, limit: Limit, *, used: int, asked: int, retry_after_s: float | None) -> None:
        if asked > limit.amount:
            fix = "Ask for less at once, or have the limit raised."
        elif limit.kind is LimitKind.CONCURRENCY:
            fix = "Wait for one of them to end."
        else:
            fix = f"Try again in {retry_after_s or 0:.0f} s, when the next window begins."
        window = "at once" if limit.kind is LimitKind.CONCURRENCY else f"in {limit.window_s} s"
        super().__init__(
            f"{limit.kind} of {limit.scope}: {used} used or reserved and {asked} asked for, allowed: {limit.amount} "
            f"{window}. {fix}",
            retry_after_s=retry_after_s,
        )
        self.limit = limit
        self.used = used
        self.asked = asked


class DuplicateRequestError(LedgerError):
    """The tenant has used this idempotency key already; ``ending`` is ``None`` while that request runs."""

    def __init__(self, key: str, *, first: str, ending: Ending | None) -> None:
        state = "is still running" if ending is None else f"has {ending}"
        super().__init__(
            f"Idempotency-Key {key[:80]!r} is that of request {first}, which {state}. "
            "Send another key to have it done again.",
            param="Idempotency-Key",
        )
        self.first = first
        self.ending = ending


class IdempotencyMismatchError(LedgerError):
    """The tenant has used this idempotency key for another request."""

    def __init__(self, key: str, *, first: str) -> None:
        super().__init__(
            f"Idempotency-Key {key[:80]!r} is that of request {first}, whose body was another. "
            "Send a key of its own with every request.",
            param="Idempotency-Key",
        )
        self.first = first


class UnknownReservationError(LedgerError):
    """No request of the ledger has this id."""


class AlreadySettledError(LedgerError):
    """The request has ended before; one outcome each."""


class ReservationLostError(AlreadySettledError):
    """The process counted as dead for so long that its request was ended as lost: its answer must not go out."""


class UnwritableRowError(LedgerError):
    """The database refuses this row and no other: a value is too large or is no text."""
