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
    """A reservation does not fit into a limit; ``retry_after_s`` is ``None`` where no waiting helps.

    Attributes:
        used, asked: what is used or reserved of it, and what was asked for.
        is_held: whether it would fit if requests that run used nothing of what they have reserved.
    """

    def __init__(
        self, limit: Limit, *, used: int, asked: int, retry_after_s: float | None, is_held: bool = False
    ) -> None:
        window = "at once" if limit.kind is LimitKind.CONCURRENCY else f"in {limit.window}"
        super().__init__(
            f"{limit.kind} of {limit.scope}: {limit.shown(used)} used or reserved and {limit.shown(asked)} asked for, "
            f"allowed: {limit.shown(limit.amount)} {window}. {_fix(limit, asked, retry_after_s, is_held=is_held)}",
            retry_after_s=retry_after_s,
        )
        self.limit = limit
        self.used = used
        self.asked = asked
        self.is_held = is_held


def _fix(limit: Limit, asked: int, retry_after_s: float | None, *, is_held: bool) -> str:
    if asked > limit.amount and limit.kind in {LimitKind.STEPS, LimitKind.COST}:
        return "Ask for less at once (max_tokens, n, diffusion.max_total_steps), or have the limit raised."
    if asked > limit.amount:
        return "It lets nobody through: have it raised."
    if limit.kind is LimitKind.CONCURRENCY:
        return "Wait for one of them to end."
    if is_held:
        return "Requests that run have reserved the most they may take: try again when one of them has ended."
    return f"Try again in {retry_after_s or 0:.0f} s, when the next window begins."


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
