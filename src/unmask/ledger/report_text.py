"""A report as rows of plain values, for tables, CSV and JSON alike."""

import csv
import io
from collections.abc import Callable, Mapping
from types import MappingProxyType

from unmask.ledger.report import Line, Report, Spending

MICRO = 1_000_000

FIGURES: Mapping[str, Callable[[Spending], float | int | None]] = MappingProxyType({
    "requests": lambda spending: spending.requests,
    "accepted": lambda spending: spending.accepted,
    "unaccepted": lambda spending: spending.unaccepted,
    "rejected": lambda spending: spending.rejected,
    "lost": lambda spending: spending.lost,
    "unpriced": lambda spending: spending.unpriced,
    "steps": lambda spending: spending.steps,
    "steps_allocated": lambda spending: spending.steps_allocated,
    "steps_re_expansion": lambda spending: spending.steps_re_expansion,
    "re_expansion_share": lambda spending: spending.re_expansion_share,
    "steps_search": lambda spending: spending.steps_search,
    "steps_verification": lambda spending: spending.steps_verification,
    "verification_share": lambda spending: spending.verification_share,
    "steps_control": lambda spending: spending.steps_control,
    "steps_saved": lambda spending: spending.steps_saved,
    "saved_share": lambda spending: spending.saved_share,
    "prefill_tokens": lambda spending: spending.prefill_tokens,
    "cached_tokens": lambda spending: spending.cached_tokens,
    "output_tokens": lambda spending: spending.output_tokens,
    "cost": lambda spending: spending.cost,
    "cost_re_expansion": lambda spending: spending.cost_re_expansion,
    "re_expansion_cost_share": lambda spending: spending.re_expansion_cost_share,
    "cost_search": lambda spending: spending.cost_search,
    "cost_verification": lambda spending: spending.cost_verification,
    "cost_control": lambda spending: spending.cost_control,
    "cost_platform": lambda spending: spending.cost_platform,
    "unit_price": lambda spending: spending.unit_price,
})  # fmt: skip
"""Every figure of a report by its name; money is in micro-units."""


def report_record(report: Report) -> dict[str, object]:
    """Return a report for machines."""
    return {
        "by": report.by,
        "start": report.period.start.isoformat(),
        "end": report.period.end.isoformat(),
        "lines": [_record(line) for line in report.lines],
        "total": _record(report.total),
    }


def report_csv(report: Report) -> str:
    """Return a report as CSV: a row for each line and period, the total last; what is not known is empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow((report.by, "period", *FIGURES))
    for line in (*report.lines, report.total):
        for period, spending in (("now", line.now), ("before", line.before)):
            values = (figure(spending) for figure in FIGURES.values())
            writer.writerow((_safe(line.name), period, *("" if value is None else value for value in values)))
    return text.getvalue()


def _record(line: Line) -> dict[str, object]:
    return {
        "name": line.name,
        "now": {name: figure(line.now) for name, figure in FIGURES.items()},
        "before": {name: figure(line.before) for name, figure in FIGURES.items()},
    }


def _safe(name: str) -> str:
    """Return a name that a spreadsheet takes for no formula; tags are a client's own words."""
    return f"'{name}" if name[:1] in {"=", "+", "-", "@", "\t", "\r"} else name
