"""Cost and quality in one place: by model and task type, and request by request."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, FromClause, Row, Select, Subquery, case, func, select

from unmask.ledger.report import Period, Spending, figures_of, joined, spending_columns, within
from unmask.ledger.settlement import Ending, Purpose
from unmask.ledger.tables import ATTEMPTS, ENDS, REQUESTS
from unmask.stats import IntervalResult, wilson
from unmask.types import Verification

_ANSWERS = (Purpose.ANSWER, Purpose.RE_EXPANSION)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """How often verifiers passed what was answered; answers that nobody could judge are in neither number."""

    judged: int = 0
    passed: int = 0

    @property
    def pass_rate(self) -> IntervalResult:
        """Share of judged answers that passed, with Wilson's interval."""
        return wilson(self.passed, self.judged)

    def __add__(self, other: "Verified") -> "Verified":
        """Return both together."""
        return Verified(judged=self.judged + other.judged, passed=self.passed + other.passed)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioLine:
    """What one task type took on one model, and how good its answers were.

    Attributes:
        route: what was asked for, where the model is the one of a route's two that has answered.
    """

    route: str = ""
    model: str
    task: str
    spending: Spending
    verified: Verified


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestLine:
    """What one request took, and what verifiers say of its answer; ``cost`` in micro-units."""

    id: str
    tenant: str
    model: str
    task: str
    ending: str
    steps: int
    prompt_tokens: int
    output_tokens: int
    cost: int | None
    verification: Verification


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityReport:
    """A period, line by line, the whole of it, and its costliest requests.

    Attributes:
        lines: by what was asked for; routes under their own names.
        answered: what routes have answered, by the model whose answer it is; of each request all that it took is there.
    """

    period: Period
    lines: tuple[ScenarioLine, ...]
    answered: tuple[ScenarioLine, ...]
    total: ScenarioLine
    requests: tuple[RequestLine, ...] = field(default=())


def make_quality_report(connection: Connection, period: Period, *, requests: int = 0) -> QualityReport:
    """Sum up cost and verdicts of requests that ended in a period.

    Args:
        connection: to the ledger.
        period: which one.
        requests: how many requests are listed, the costliest first.
    """
    lines = tuple(_lines(connection, period))
    total = ScenarioLine(
        model="total",
        task="",
        spending=_added(line.spending for line in lines),
        verified=sum((line.verified for line in lines), Verified()),
    )
    listed = tuple(_requests(connection, period, requests)) if requests else ()
    answered = tuple(_answered(connection, period))
    return QualityReport(period=period, lines=lines, answered=answered, total=total, requests=listed)


def _lines(connection: Connection, period: Period) -> Iterator[ScenarioLine]:
    verdicts = _verdicts()
    query = _sums((REQUESTS.c.model, REQUESTS.c.task), verdicts, joined()).where(*within(period))
    for row in connection.execute(query):
        yield _line(row)


def _answered(connection: Connection, period: Period) -> Iterator[ScenarioLine]:
    verdicts, answers = _verdicts(), _answers()
    ended = joined().join(answers, answers.c.request == ENDS.c.request)
    query = _sums((REQUESTS.c.model.label("route"), answers.c.model, REQUESTS.c.task), verdicts, ended)
    # An attempt names its model only where the request asked for another name.
    for row in connection.execute(
        query.where(*within(period), ENDS.c.ending == Ending.COMPLETED, answers.c.model != "")
    ):
        yield replace(_line(row), route=row.route)


def _sums(by: Sequence[ColumnElement[str]], verdicts: Subquery, ended: FromClause) -> Select[*tuple[Any, ...]]:
    """Return sums over requests that have ended, and what verifiers say of those that were answered."""
    counted = ENDS.c.ending == Ending.COMPLETED
    return (
        select(
            *by,
            *spending_columns(),
            func.sum(case((counted, verdicts.c.judged), else_=0)).label("judged"),
            func.sum(case((counted, verdicts.c.passed), else_=0)).label("passed"),
        )
        .select_from(ended.outerjoin(verdicts, verdicts.c.request == ENDS.c.request))
        .group_by(*by)
        .order_by(*by)
    )


def _line(row: Row[Any]) -> ScenarioLine:
    return ScenarioLine(
        model=row.model,
        task=row.task,
        spending=Spending(**figures_of(row)),
        verified=Verified(judged=int(row.judged or 0), passed=int(row.passed or 0)),
    )


def _requests(connection: Connection, period: Period, count: int) -> Iterator[RequestLine]:
    verdicts = _verdicts()
    query = (
        select(REQUESTS.c.tenant, REQUESTS.c.model, REQUESTS.c.task, ENDS, verdicts.c.judged, verdicts.c.passed)
        .select_from(joined().outerjoin(verdicts, verdicts.c.request == ENDS.c.request))
        .where(*within(period))
        .order_by(func.coalesce(ENDS.c.cost, 0).desc(), ENDS.c.steps.desc(), ENDS.c.request)
        .limit(count)
    )
    for row in connection.execute(query):
        verdict = Verification.PASS if row.passed else Verification.FAIL if row.judged else Verification.SKIPPED
        yield RequestLine(
            id=row.request,
            tenant=row.tenant,
            model=row.model,
            task=row.task,
            ending=row.ending,
            steps=row.steps,
            prompt_tokens=row.prefill_tokens + row.cached_tokens,
            output_tokens=row.output_tokens,
            cost=row.cost,
            verification=verdict,
        )


def _verdicts() -> Subquery:
    """Return by request whether an answer of it was judged, and whether one passed: that one was given."""
    passed = ATTEMPTS.c.verification == Verification.PASS
    judged = ATTEMPTS.c.verification != Verification.SKIPPED
    return (
        select(
            ATTEMPTS.c.request,
            func.max(case((judged, 1), else_=0)).label("judged"),
            func.max(case((passed, 1), else_=0)).label("passed"),
        )
        .where(ATTEMPTS.c.purpose.in_(_ANSWERS))
        .group_by(ATTEMPTS.c.request)
        .subquery()
    )


def _answers() -> Subquery:
    """Return by request the model of the attempt that was answered.

    That is the last that passed, else the last that failed, else the last: whoever follows a failed answer is taken
    unless it did not complete, and what did not complete was not judged.
    """
    rank = case(
        (ATTEMPTS.c.verification == Verification.PASS, 2), (ATTEMPTS.c.verification == Verification.FAIL, 1), else_=0
    )
    place = func.row_number().over(partition_by=ATTEMPTS.c.request, order_by=(rank.desc(), ATTEMPTS.c.number.desc()))
    ranked = (
        select(ATTEMPTS.c.request, ATTEMPTS.c.model, place.label("place"))
        .where(ATTEMPTS.c.purpose.in_((*_ANSWERS, Purpose.CACHE)))
        .subquery()
    )
    return select(ranked.c.request, ranked.c.model).where(ranked.c.place == 1).subquery()


def _added(each: Iterator[Spending]) -> Spending:
    sums: dict[str, int] = {}
    for spending in each:
        for name, value in figures_of(spending).items():
            sums[name] = sums.get(name, 0) + value
    return Spending(**sums)
