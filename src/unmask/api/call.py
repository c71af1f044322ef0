"""A checked call, ready to be served: what to generate, and how the client wants to have it."""

from dataclasses import dataclass
from enum import StrEnum

from unmask.api.verifying import Verifying
from unmask.backend import ModelInfo, Request
from unmask.control.admitted import Admitted
from unmask.control.asked import Asked
from unmask.tasks.formats import AnswerFormat


class Delivery(StrEnum):
    """How an answer reaches the client.

    At once; canvas by canvas; with a draft after every step beside it; or as a stream whose text comes once it is
    accepted. ``stream`` leaves it open: accepted text where there may be further attempts, else canvas by canvas.
    """

    WHOLE = "whole"
    STREAM = "stream"
    COMMITTED = "committed"
    SNAPSHOTS = "snapshots"
    VERIFIED = "verified"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of a generating endpoint.

    Attributes:
        requests: one per choice of the answer, in the order of the choices.
        echoes: text that a choice begins with before anything is generated, one per choice.
        answer_format: the form that every choice is verified against; ``None`` asks for none.
        verifying: what else it is verified against.
        include_usage: whether a stream ends with what it cost.
        asked: what the client says of the budget of all its choices.
        admitted: the requests with the budgets they were given, once they were; one per request.
        user: whom the client names as its user, in its own words.
        tags: names that the client gives to the call, to find it by in reports.
        service_tier: the tier to name in the answer, which admission may change; ``None`` where the client named none.
    """

    model: ModelInfo
    requests: tuple[Request, ...]
    echoes: tuple[str, ...]
    delivery: Delivery = Delivery.WHOLE
    answer_format: AnswerFormat | None = None
    verifying: Verifying = Verifying()
    include_usage: bool = False
    asked: Asked = Asked()
    admitted: tuple[Admitted, ...] = ()
    user: str = ""
    tags: tuple[str, ...] = ()
    service_tier: str | None = None
