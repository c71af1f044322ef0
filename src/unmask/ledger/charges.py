"""What a request takes up of its limits, while it runs and afterwards."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import assert_never

import orjson

from unmask.ledger.limit import Limit, LimitKind
from unmask.ledger.reservation import Reservation

SECOND_US = 1_000_000


@dataclass(frozen=True, slots=True)
class Charge:
    """An amount in a counter: that of one limit in one window."""

    counter: str
    kind: LimitKind
    amount: int


def counter_of(limit: Limit, time_us: int) -> tuple[str, int]:
    """Return the counter of a limit at a time, and when its window ends; 0 where it has none.

    Windows are counted from 1970. A clock that is set back leads to an earlier window with all that it has used.
    """
    if limit.window_s == 0:
        return f"{limit.kind}|0|0|{limit.scope}", 0
    number = time_us // (limit.window_s * SECOND_US)
    return f"{limit.kind}|{limit.window_s}|{number}|{limit.scope}", (number + 1) * limit.window_s * SECOND_US


def asked(limit: Limit, reservation: Reservation, cost: int | None) -> int:
    """Return what a reservation takes of a limit; without a price it is all there is, so that nothing is overspent."""
    match limit.kind:
        case LimitKind.REQUESTS | LimitKind.CONCURRENCY:
            return 1
        case LimitKind.STEPS:
            return reservation.steps
        case LimitKind.COST:
            return max(limit.amount, 1) if cost is None else cost
        case _:
            assert_never(limit.kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """What is left of a request in its counters once it has ended; ``cost`` is ``None`` without a price."""

    requests: int
    steps: int
    cost: int | None


NOTHING = Used(requests=0, steps=0, cost=0)


def kept(charge: Charge, used: Used) -> int:
    """Return what stays of a charge when its request has ended."""
    match charge.kind:
        case LimitKind.REQUESTS:
            return used.requests
        case LimitKind.CONCURRENCY:
            return 0
        case LimitKind.STEPS:
            return used.steps
        case LimitKind.COST:
            # What has no price is taken to have cost all that was reserved.
            return charge.amount if used.cost is None else used.cost
        case _:
            assert_never(charge.kind)


def write_charges(charges: Iterable[Charge]) -> str:
    """Write charges into one column."""
    return orjson.dumps([[charge.counter, charge.kind, charge.amount] for charge in charges]).decode()


def read_charges(text: str) -> Sequence[Charge]:
    """Read what `write_charges` wrote."""
    return [Charge(counter, LimitKind(kind), amount) for counter, kind, amount in orjson.loads(text)]
