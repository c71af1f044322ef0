"""What ``unmask ledger report --with-quality`` shows."""

import argparse
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from rich.table import Table
from sqlalchemy import Connection

from unmask.app.control import record_folder
from unmask.cli.tools import Tools
from unmask.control.estimates import estimate_rules
from unmask.control.records import ControlRecord, RecordFolder
from unmask.errors import ConfigError
from unmask.ledger.quality import QualityReport, ScenarioLine, make_quality_report
from unmask.ledger.report import Period
from unmask.ledger.report_text import MICRO
from unmask.stats import Interval, IntervalResult, NotEnoughData

Misjudgement = Mapping[tuple[str, str], IntervalResult]
"""By model and task type, of the control runs of a period."""
_WORDS = frozenset({"request", "model", "route", "answered by", "task", "verified"})
_NO_CONTROLS = NotEnoughData(n=0, reason="no control runs")


@dataclass(frozen=True, slots=True, kw_only=True)
class CostAndQuality:
    """What the books say of a period, and what control runs say of its exits."""

    report: QualityReport
    misjudgement: Misjudgement

    def wrong(self, line: ScenarioLine) -> IntervalResult:
        """Return how often exits of a line were misjudged."""
        return self.misjudgement.get((line.model, line.task), _NO_CONTROLS)


def read_quality(args: argparse.Namespace, connection: Connection, period: Period) -> CostAndQuality:
    """Read cost and quality of a period.

    Raises:
        ConfigError: records of control runs are there and cannot be read.
    """
    folder = RecordFolder(args.controls or record_folder(os.environ))
    try:
        controls, labels = folder.controls().records, folder.labels().records
    except OSError as error:
        raise ConfigError(f"{folder.path} cannot be read: {error.strerror or error}") from error
    start, end = period.start.timestamp(), period.end.timestamp()
    # Of whatever policy and weights: a line is of all that was asked of a model in the period.
    seen = [_of_no_policy(record) for record in controls if start <= record.time < end]
    rules = estimate_rules(seen, labels)
    return CostAndQuality(
        report=make_quality_report(connection, period, requests=args.requests),
        misjudgement={(rule.group.model, rule.group.task): rule.misjudgement for rule in rules},
    )


def show_quality(found: CostAndQuality, tools: Tools) -> None:
    """Write the tables."""
    for table in _tables(found):
        tools.out.print(table)


def quality_record(found: CostAndQuality) -> dict[str, object]:
    """Return cost and quality for machines; money is in micro-units."""
    report = found.report
    return {
        "start": report.period.start.isoformat(),
        "end": report.period.end.isoformat(),
        "lines": [_record(line, found.wrong(line)) for line in report.lines],
        "answered": [{"route": line.route, **_record(line, found.wrong(line))} for line in report.answered],
        "total": _record(report.total, None),
        "requests": [
            {
                "id": one.id,
                "tenant": one.tenant,
                "model": one.model,
                "task": one.task,
                "ending": one.ending,
                "steps": one.steps,
                "prompt_tokens": one.prompt_tokens,
                "output_tokens": one.output_tokens,
                "cost": one.cost,
                "verification": one.verification.value,
            }
            for one in report.requests
        ],
    }


def _of_no_policy(record: ControlRecord) -> ControlRecord:
    return replace(record, policy="", model_digest="")


def _record(line: ScenarioLine, misjudgement: IntervalResult | None) -> dict[str, object]:
    spending, verified = line.spending, line.verified
    return {
        "model": line.model,
        "task": line.task,
        "requests": spending.requests,
        "prompt_tokens": spending.prefill_tokens + spending.cached_tokens,
        "output_tokens": spending.output_tokens,
        "steps": spending.steps,
        "cost": spending.cost,
        "cost_a_request": spending.cost / spending.requests if spending.requests else None,
        "unit_price": spending.unit_price,
        "judged": verified.judged,
        "passed": verified.passed,
        "pass_rate": _interval(verified.pass_rate),
        "misjudgement": None if misjudgement is None else _interval(misjudgement),
    }


def _interval(found: IntervalResult) -> dict[str, object] | None:
    return {"value": found.estimate, "low": found.low, "high": found.high} if isinstance(found, Interval) else None


def _tables(found: CostAndQuality) -> Iterable[Table]:
    """Return cost and quality of lines side by side, and below them requests where they are listed."""
    report = found.report
    table = _table(
        ("model", "task", "requests", "a request", "passed", "exits wrong"),
        [
            (
                line.model,
                line.task,
                str(line.spending.requests),
                _money(line.spending.cost / line.spending.requests if line.spending.requests else None),
                _share(line.verified.pass_rate),
                _share(found.wrong(line)) if line is not report.total else "",
            )
            for line in (*report.lines, report.total)
        ],
    )
    table.title = f"{report.period.start.date()} up to {report.period.end.date()}"
    table.caption = "a request: its cost. passed: of answers with a verifier. exits wrong: by control runs. 95 %"
    yield table
    yield _table(
        ("model", "task", "prompt tokens", "output", "steps", "cost"),
        [
            (
                line.model,
                line.task,
                f"{line.spending.prefill_tokens + line.spending.cached_tokens:,}",
                f"{line.spending.output_tokens:,}",
                f"{line.spending.steps:,}",
                _money(line.spending.cost),
            )
            for line in (*report.lines, report.total)
        ],
    )
    if report.answered:
        yield _answered(report)
    if report.requests:
        yield _table(
            ("request", "model", "task", "tokens", "steps", "cost", "verified"),
            [
                (
                    one.id,
                    one.model,
                    one.task,
                    f"{one.prompt_tokens}+{one.output_tokens}",
                    str(one.steps),
                    _money(one.cost),
                    one.verification,
                )
                for one in report.requests
            ],
        )


def _answered(report: QualityReport) -> Table:
    """Return what routes have answered, by the model whose answer it is."""
    table = _table(
        ("route", "answered by", "task", "requests", "steps", "a request", "passed"),
        [
            (
                line.route,
                line.model,
                line.task,
                str(line.spending.requests),
                f"{line.spending.steps:,}",
                _money(line.spending.cost / line.spending.requests if line.spending.requests else None),
                _share(line.verified.pass_rate),
            )
            for line in report.answered
        ],
    )
    table.caption = "of each request all that it took, the attempt before an escalation included"
    return table


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    table = Table()
    for name in columns:
        table.add_column(name, justify="left" if name in _WORDS else "right")
    for row in rows:
        table.add_row(*(" ".join(text.split()) or "(none)" if place < 2 else text for place, text in enumerate(row)))
    return table


def _money(micro: float | None) -> str:
    return "" if micro is None else f"{micro / MICRO:,.6f}"


def _share(found: IntervalResult) -> str:
    if isinstance(found, Interval):
        return f"{found.estimate:.1%} ({found.low:.1%} to {found.high:.1%})"
    return ""
