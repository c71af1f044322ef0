"""How much may be used in a window of time."""

from dataclasses import dataclass
from enum import StrEnum


class LimitKind(StrEnum):
    """What a limit counts."""

    REQUESTS = "requests"
    STEPS = "steps"
    COST = "cost"
    CONCURRENCY = "concurrency"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """At most ``amount`` of a kind in each window, for all requests that name the same scope.

    Windows are fixed pieces of time counted from 1970, so none is ever reset. What a request reserves counts at once;
    what it does not use is given back, to the window it was reserved in, when it ends. A change of ``amount`` keeps
    what was used.

    Attributes:
        scope: what is limited, such as ``tenant:acme`` or ``key:3fa9``.
        kind: what is counted.
        window_s: length of a window in seconds, at least 1; 0 for `LimitKind.CONCURRENCY`, and for it only.
        amount: requests, denoise steps, micro-units of money, or requests at once; at least 0.
    """

    scope: str
    kind: LimitKind
    window_s: int = 0
    amount: int

    def __post_init__(self) -> None:
        assert self.amount >= 0, "a limit is never below nothing"
        assert (self.window_s == 0) == (self.kind is LimitKind.CONCURRENCY), "windows are for what adds up"
        assert self.window_s >= 0, "windows do not go back"


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How a limit stands once a request's reservation is in it.

    ``reset_s`` is how long its window still lasts, in seconds; 0 for concurrency.
    """

    limit: Limit
    used: int
    reset_s: float

    @property
    def remaining(self) -> int:
        """How much is left."""
        return max(self.limit.amount - self.used, 0)
