"""What ``unmask ledger`` shows to people."""

from collections.abc import Iterator, Sequence

from rich.table import Table
from rich.text import Text

from unmask.ledger.report import Line, Report, Spending

_MICRO = 1_000_000
_SHORTEST_NAME, _LONGEST_NAME = 8, 24


def report_tables(report: Report) -> tuple[Table, ...]:
    """Return what became of requests, what they took and what that cost, and the total against the period before.

    Several narrow tables: a number that is broken in two cannot be read.
    """
    return _ended(report), _steps(report), _cost(report), _prices(report), _compared(report)


def _ended(report: Report) -> Table:
    rows = [(now.requests, now.accepted, now.unaccepted, now.rejected, now.lost) for now in _spending(report)]
    table = _table(report, ("requests", "accepted", "unaccepted", "rejected", "lost"), rows)
    table.title = f"{report.period.start.date()} up to {report.period.end.date()}"
    return table


def _steps(report: Report) -> Table:
    rows = [
        (
            now.steps,
            now.steps_re_expansion,
            _share(now.re_expansion_share),
            now.steps_verification,
            _share(now.verification_share),
            _share(now.saved_share),
        )
        for now in _spending(report)
    ]
    return _table(report, ("steps", "re-expansion", "share", "samples", "share", "saved"), rows)


def _cost(report: Report) -> Table:
    rows = [
        tuple(
            map(_money, (now.cost, now.cost_re_expansion, now.cost_verification, now.cost_control, now.cost_platform))
        )
        for now in _spending(report)
    ]
    table = _table(report, ("cost", "re-expansion", "samples", "control", "platform"), rows)
    if report.total.now.unpriced:
        table.caption = f"{report.total.now.unpriced} requests have no price and are in no cost"
    return table


def _prices(report: Report) -> Table:
    prices = [(line.now.unit_price, line.before.unit_price) for line in _lines(report)]
    rows = [(_money(now), _money(before), _change(now, before)) for now, before in prices]
    return _table(report, ("an answer", "before", "change"), rows)


def _compared(report: Report) -> Table:
    now, before = report.total.now, report.total.before
    table = Table()
    for name in ("total", "now", "before", "change"):
        table.add_column(name, justify="left" if name == "total" else "right", no_wrap=name != "total")
    for name, new, old in _counts(now, before):
        table.add_row(name, str(new), str(old), _change(new, old))
    for name, share, old_share in (
        ("re-expansion, share of steps", now.re_expansion_share, before.re_expansion_share),
        ("samples to compare with, share of steps", now.verification_share, before.verification_share),
        ("saved by exits, share of steps allocated", now.saved_share, before.saved_share),
    ):
        table.add_row(name, _share(share), _share(old_share), "")
    for name, price, old_price in (
        ("cost", now.cost, before.cost),
        ("cost of re-expansion", now.cost_re_expansion, before.cost_re_expansion),
        ("cost of samples to compare with", now.cost_verification, before.cost_verification),
        ("cost of searches", now.cost_search, before.cost_search),
        ("cost of control runs", now.cost_control, before.cost_control),
        ("effective unit price: all cost ÷ accepted answers", now.unit_price, before.unit_price),
    ):
        table.add_row(name, _money(price), _money(old_price), _change(price, old_price))
    return table


def _counts(now: Spending, before: Spending) -> tuple[tuple[str, int, int], ...]:
    return (
        ("requests", now.requests, before.requests),
        ("accepted answers", now.accepted, before.accepted),
        ("steps", now.steps, before.steps),
        ("steps of re-expansion", now.steps_re_expansion, before.steps_re_expansion),
        ("steps of samples to compare with", now.steps_verification, before.steps_verification),
        ("steps of control runs", now.steps_control, before.steps_control),
        ("steps saved by exits", now.steps_saved, before.steps_saved),
    )


def _table(report: Report, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> Table:
    """Return a table with a row for each line; where it is too wide, names are cut and figures are not."""
    table = Table()
    # The column may be narrowed, which one of `no_wrap` may not; its texts are of one row all the same.
    table.add_column(str(report.by), min_width=_SHORTEST_NAME, max_width=_LONGEST_NAME)
    for column, name in enumerate(columns):
        width = max(len(str(row[column])) for row in rows)
        table.add_column(name, justify="right", no_wrap=True, min_width=max(width, len(name)))
    for line, row in zip(_lines(report), rows, strict=True):
        # CSV and JSON have all of a long name.
        shown = Text(" ".join(line.name.split()), no_wrap=True, overflow="ellipsis")
        table.add_row(shown, *map(str, row))
    return table


def _lines(report: Report) -> tuple[Line, ...]:
    return (*report.lines, report.total)


def _spending(report: Report) -> Iterator[Spending]:
    return (line.now for line in _lines(report))


def _money(micro: float | None) -> str:
    return "" if micro is None else f"{micro / _MICRO:,.6f}"


def _share(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"


def _change(new: float | None, old: float | None) -> str:
    return "" if new is None or not old else f"{new / old - 1:+.1%}"
