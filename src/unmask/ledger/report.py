"""What was spent, on what and for whom, in a period and in the one before."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import assert_never

import orjson
from sqlalchemy import (
    BigInteger,
    Case,
    ColumnElement,
    Connection,
    FromClause,
    case,
    cast,
    func,
    literal,
    literal_column,
    select,
)

from unmask.ledger.charges import SECOND_US
from unmask.ledger.owner import PLATFORM
from unmask.ledger.settlement import Ending
from unmask.ledger.tables import ENDS, REQUESTS

DAY_S = 86_400
TOTAL = "total"
NO_TAG = "(none)"


class By(StrEnum):
    """What a line of a report is of."""

    TENANT = "tenant"
    TASK = "task"
    CLASS = "class"
    MODEL = "model"
    TAG = "tag"
    DAY = "day"


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """From ``start``, included, to ``end``, which is not."""

    start: datetime
    end: datetime

    @property
    def before(self) -> "Period":
        """The period of the same length that ends where this one begins."""
        return Period(start=self.start - (self.end - self.start), end=self.start)


def last_days(days: int, now: datetime) -> Period:
    """Return so many days of UTC, the present one, which is not over, included."""
    end = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    return Period(start=end - timedelta(days=days), end=end)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """Sums over requests that ended in a period; money in micro-units.

    Attributes:
        requests: all that ended, rejected ones included.
        rejected: those that were turned away.
        lost: those that a crash ended.
        accepted: answers that went out and that no verifier had failed.
        unpriced: requests without a price, whose cost is not known and not in ``cost``.
        steps_allocated, steps: denoise steps that attempts were given, and took.
        steps_saved: steps that early exits left.
        steps_control: steps of control runs after their exit.
        steps_re_expansion, steps_search, steps_verification: steps of further attempts after a failed verification, of
            searches, and of samples that answers were compared with.
        prefill_tokens, cached_tokens, output_tokens: tokens prefilled, spared by a cache, and written.
        cost: all cost, whoever pays it, that of the next lines included.
        cost_re_expansion, cost_search, cost_verification, cost_control: its parts.
        cost_platform: what of it is charged to nobody.
    """

    requests: int = 0
    rejected: int = 0
    lost: int = 0
    accepted: int = 0
    unpriced: int = 0
    steps_allocated: int = 0
    steps: int = 0
    steps_saved: int = 0
    steps_control: int = 0
    steps_re_expansion: int = 0
    steps_search: int = 0
    steps_verification: int = 0
    prefill_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    cost: int = 0
    cost_re_expansion: int = 0
    cost_search: int = 0
    cost_verification: int = 0
    cost_control: int = 0
    cost_platform: int = 0

    @property
    def unaccepted(self) -> int:
        """Requests that ran and were not accepted: their answer failed its verifiers, they failed, or were left."""
        return self.requests - self.accepted - self.rejected - self.lost

    @property
    def unit_price(self) -> float | None:
        """Effective unit price in micro-units: all cost for each accepted answer; ``None`` without any."""
        return self.cost / self.accepted if self.accepted else None

    @property
    def re_expansion_share(self) -> float | None:
        """Share of all steps that further attempts took; ``None`` without steps."""
        return self.steps_re_expansion / self.steps if self.steps else None

    @property
    def re_expansion_cost_share(self) -> float | None:
        """Share of all cost that further attempts made; ``None`` where nothing cost anything."""
        return self.cost_re_expansion / self.cost if self.cost else None

    @property
    def verification_share(self) -> float | None:
        """Share of all steps that samples to compare answers with took; ``None`` without steps."""
        return self.steps_verification / self.steps if self.steps else None

    @property
    def saved_share(self) -> float | None:
        """Share of the steps allocated that early exits left; ``None`` without any."""
        return self.steps_saved / self.steps_allocated if self.steps_allocated else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of a report: what it is of, its period, and the period before."""

    name: str
    now: Spending
    before: Spending


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Lines by what was asked for, and their total.

    A request with several tags is in a line for each of them and once in the total.
    """

    by: By
    period: Period
    lines: tuple[Line, ...]
    total: Line


def make_report(connection: Connection, by: By, period: Period) -> Report:
    """Sum up what ended in a period; days of the period before are those as many days earlier."""
    now, before = _spending(connection, by, period), _spending(connection, by, period.before)
    if by is By.DAY:
        days = (period.end - period.start).days
        before = {_shifted(day, days): spending for day, spending in before.items()}
    names = sorted({*now, *before} - {TOTAL})
    lines = tuple(Line(name=name, now=now.get(name, Spending()), before=before.get(name, Spending())) for name in names)
    total = Line(name=TOTAL, now=_total(connection, period), before=_total(connection, period.before))
    return Report(by=by, period=period, lines=lines, total=total)


def _spending(connection: Connection, by: By, period: Period) -> dict[str, Spending]:
    sums: dict[str, Counter[str]] = {}
    # By the name of the column: PostgreSQL takes an expression with values in it for another one each time.
    query = select(_key(by).label("line"), *spending_columns()).select_from(joined()).where(*within(period))
    for row in connection.execute(query.group_by(literal_column("line"))):
        for name in _names(by, row.line):
            sums.setdefault(name, Counter()).update(figures_of(row))
    return {name: Spending(**found) for name, found in sums.items()}


def _total(connection: Connection, period: Period) -> Spending:
    query = select(*spending_columns()).select_from(joined()).where(*within(period))
    return Spending(**figures_of(connection.execute(query).one()))


def joined() -> FromClause:
    """Return requests that have ended, with how."""
    return ENDS.join(REQUESTS, REQUESTS.c.id == ENDS.c.request)


def _key(by: By) -> ColumnElement[object]:
    match by:
        case By.TENANT:
            # What is charged to nobody stands in no tenant's line.
            return case((ENDS.c.payer == PLATFORM, literal(PLATFORM)), else_=REQUESTS.c.tenant)
        case By.TASK:
            return REQUESTS.c.task
        case By.CLASS:
            return REQUESTS.c.service_class
        case By.MODEL:
            return REQUESTS.c.model
        case By.TAG:
            return REQUESTS.c.tags
        case By.DAY:
            return ENDS.c.time_us // (DAY_S * SECOND_US)
        case _:
            assert_never(by)


def _names(by: By, value: object) -> Iterable[str]:
    match by:
        case By.TAG:
            return orjson.loads(str(value)) or (NO_TAG,)
        case By.DAY:
            return (datetime.fromtimestamp(int(str(value)) * DAY_S, UTC).date().isoformat(),)
        case _:
            return (str(value) or "(none)",)


def spending_columns() -> list[ColumnElement[int]]:
    """Return a sum for each figure of `Spending`, in its order."""
    counted = {
        "requests": literal(1),
        "rejected": _one_if(ENDS.c.ending == Ending.REJECTED),
        "lost": _one_if(ENDS.c.ending == Ending.LOST),
        "accepted": _one_if(ENDS.c.accepted),
        "unpriced": _one_if(ENDS.c.cost.is_(None)),
        "cost_platform": case((ENDS.c.payer == PLATFORM, ENDS.c.cost), else_=0),
    }
    names = [field.name for field in fields(Spending)]
    return [
        cast(func.coalesce(func.sum(counted.get(name, ENDS.c.get(name))), 0), BigInteger).label(name) for name in names
    ]


def _one_if(condition: ColumnElement[bool]) -> Case[int]:
    return case((condition, 1), else_=0)


def within(period: Period) -> tuple[ColumnElement[bool], ...]:
    """Return what holds of ends in a period."""
    start, end = (round(time.timestamp() * SECOND_US) for time in (period.start, period.end))
    return ENDS.c.time_us >= start, ENDS.c.time_us < end


def figures_of(row: object) -> dict[str, int]:
    """Return the figures of a row with such sums, by name."""
    return {field.name: int(getattr(row, field.name)) for field in fields(Spending)}


def _shifted(day: str, days: int) -> str:
    return (datetime.fromisoformat(day) + timedelta(days=days)).date().isoformat()
