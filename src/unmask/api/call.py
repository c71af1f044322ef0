"""A checked call, ready to be served: what to generate, and how the client wants to have it."""

from dataclasses import dataclass
from enum import StrEnum

from unmask.backend import ModelInfo, Request
from unmask.tasks.formats import AnswerFormat
from unmask.types import Bucket


class Delivery(StrEnum):
    """How an answer reaches the client: at once, canvas by canvas, or with a draft after every step beside it."""

    WHOLE = "whole"
    COMMITTED = "committed"
    SNAPSHOTS = "snapshots"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of a generating endpoint.

    Attributes:
        requests: one per choice of the answer, in the order of the choices.
        echoes: text that a choice begins with before anything is generated, one per choice.
        answer_format: what every choice is verified against; ``None`` asks nothing of it.
        include_usage: whether a stream ends with what it cost.
        bucket: the budget tier that the client asked for by its effort, if it did.
        service_tier: the tier to name in the answer; ``None`` where the client named none.
    """

    model: ModelInfo
    requests: tuple[Request, ...]
    echoes: tuple[str, ...]
    delivery: Delivery = Delivery.WHOLE
    answer_format: AnswerFormat | None = None
    include_usage: bool = False
    bucket: Bucket | None = None
    service_tier: str | None = None
