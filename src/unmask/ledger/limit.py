"""How much may be used in a window of time."""

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

MICRO = 1_000_000
"""Micro-units of one unit of money."""
_UNITS = {"w": 604_800, "d": 86_400, "h": 3_600, "m": 60, "s": 1}


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

    @property
    def window(self) -> str:
        """Its window as it is written in limits, such as ``1h``."""
        unit = next(unit for unit, seconds in _UNITS.items() if self.window_s % seconds == 0)
        return f"{self.window_s // _UNITS[unit]}{unit}"

    def shown(self, amount: int) -> str:
        """Return an amount as people write it: money in units."""
        return f"{Decimal(amount) / MICRO:f}" if self.kind is LimitKind.COST else str(amount)


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
