"""Who makes a call, as the books have it."""

from dataclasses import dataclass

from unmask.ledger.limit import Limit
from unmask.ledger.owner import Owner


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Whom a call is booked to, within which limits, and under which names.

    Attributes:
        request_id: what the client calls it; recorded, and nothing goes by it.
        idempotency_key: the client's name for what it wants done once.
        fingerprint: digest of what it asks for.
        arrived: when it did, on the server's clock.
    """

    owner: Owner
    limits: tuple[Limit, ...] = ()
    request_id: str = ""
    idempotency_key: str | None = None
    fingerprint: str = ""
    arrived: float = 0.0
