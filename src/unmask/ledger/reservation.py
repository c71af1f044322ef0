"""What a request may use at worst, booked before it runs."""

from dataclasses import dataclass

from unmask.ledger.limit import Standing
from unmask.ledger.owner import Owner
from unmask.types import Bucket


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """A request as it is admitted, with the most that all its attempts together may use.

    Attributes:
        owner: whom it is booked to.
        service_class: the class it is served in, which prices may depend on.
        task: its task type.
        model: the model that serves it; or a route, whose price is reserved whichever of its models runs.
        policy: digest of the budget policy that it was given its budget by; empty where there is none.
        bucket: budget tier, where it has one.
        difficulty: bin of its estimated difficulty, where it was estimated.
        steps: most denoise steps, further attempts and searches included.
        token_steps: most canvas tokens that these steps forward: for each step the canvas's length.
        prefill_tokens: most tokens that are prefilled: prompt and finished canvases, once for each attempt.
        request_id: what the client calls it (``x-request-id``); recorded, and nothing goes by it.
        idempotency_key: the client's name for what it wants done once; of its tenant's own.
        fingerprint: digest of the request's body; a key that comes again with another body is refused.
    """

    owner: Owner
    service_class: str
    task: str
    model: str
    policy: str = ""
    bucket: Bucket | None = None
    difficulty: int | None = None
    steps: int
    token_steps: int
    prefill_tokens: int
    request_id: str = ""
    idempotency_key: str | None = None
    fingerprint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reserved:
    """A reservation that is durable.

    Attributes:
        id: names the request in the ledger; different for every one, whatever clients send.
        cost: what was reserved in micro-units; ``None`` where there is no price, and each limit on cost is then
            taken up whole.
        standings: how its limits stand, in the order they were given.
    """

    id: str
    cost: int | None
    standings: tuple[Standing, ...] = ()
