"""A request that was turned away."""

from dataclasses import dataclass

from unmask.ledger.owner import Owner


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """A request that nothing was reserved for, and why.

    ``reason`` is a word or two from a fixed set, as in the answer's reason header; what is unknown stays empty.
    """

    owner: Owner
    reason: str
    service_class: str = ""
    task: str = ""
    model: str = ""
    request_id: str = ""
