"""A limit on what a tenant or a key may use."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal, DecimalException
from enum import StrEnum

from unmask.errors import InvalidRequestError

MICRO = 1_000_000
"""Of these small units is one unit of money."""
LONGEST_WINDOW_S = 366 * 86_400
LARGEST = (1 << 63) - 1

_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_FIX = "Write requests=100/1m, steps=50000/1h, cost=2.50/1d or concurrency=8."


class QuotaKind(StrEnum):
    """What is counted: requests, denoise steps, money in a window of time; or requests at the same time."""

    REQUESTS = "requests"
    STEPS = "steps"
    COST = "cost"
    CONCURRENCY = "concurrency"


class QuotaScope(StrEnum):
    """Whose use is counted: that of all keys of a tenant together, or one key's."""

    TENANT = "tenant"
    KEY = "key"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """A limit.

    Attributes:
        window_s: seconds that are counted together; 0 for requests at the same time.
        amount: most of it; money in micro-units.
    """

    kind: QuotaKind
    window_s: int
    amount: int

    @property
    def text(self) -> str:
        """The limit as `parse_quota` reads it."""
        if self.kind is QuotaKind.CONCURRENCY:
            return f"{self.kind}={self.amount}"
        amount = f"{Decimal(self.amount) / MICRO:f}" if self.kind is QuotaKind.COST else str(self.amount)
        unit = next(unit for unit in reversed(_UNITS) if self.window_s % _UNITS[unit] == 0)
        return f"{self.kind}={amount}/{self.window_s // _UNITS[unit]}{unit}"


def parse_quota(text: str) -> Quota:
    """Read a limit such as ``requests=100/1m``, ``cost=2.50/1d`` or ``concurrency=8``.

    Raises:
        InvalidRequestError: it is none.
    """
    name, _, rest = text.partition("=")
    number, slash, window = rest.partition("/")
    if name not in set(QuotaKind):
        raise InvalidRequestError("limit", text, f"one of {', '.join(QuotaKind)}, then =", _FIX)
    kind = QuotaKind(name)
    if (kind is QuotaKind.CONCURRENCY) == bool(slash):
        raise InvalidRequestError("limit", text, "a window, save for concurrency, which has none", _FIX)
    return Quota(kind=kind, window_s=_window(text, window) if slash else 0, amount=_amount(text, kind, number))


def distinct(quotas: Iterable[Quota]) -> tuple[Quota, ...]:
    """Return limits in their order.

    Raises:
        InvalidRequestError: two are of the same kind and window, so that it is unclear which one holds.
    """
    seen: dict[tuple[QuotaKind, int], Quota] = {}
    for quota in quotas:
        if seen.setdefault((quota.kind, quota.window_s), quota) is not quota:
            raise InvalidRequestError("limit", quota.text, "one of each kind and window", "Remove one of the two.")
    return tuple(seen.values())


def _window(text: str, window: str) -> int:
    count, unit = window[:-1], window[-1:]
    seconds = int(count or "1") * _UNITS.get(unit, 0) if _is_short_number(count or "1") else 0
    if not 1 <= seconds <= LONGEST_WINDOW_S:
        raise InvalidRequestError("limit", text, f"a window of 1s to {LONGEST_WINDOW_S // 86_400}d", _FIX)
    return seconds


def _amount(text: str, kind: QuotaKind, number: str) -> int:
    try:
        value = Decimal(number) * (MICRO if kind is QuotaKind.COST else 1)
    except DecimalException:
        value = Decimal(-1)
    if not value.is_finite() or not 0 <= value <= LARGEST or value != value.to_integral_value():
        raise InvalidRequestError("limit", text, "a whole number from 0, money with up to six decimals", _FIX)
    return int(value)


def _is_short_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= len(str(LONGEST_WINDOW_S))
