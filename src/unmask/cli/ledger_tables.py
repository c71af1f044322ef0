"""What ``unmask ledger`` shows to people."""

from rich.table import Table
from rich.text import Text

from unmask.ledger.report import Report, Spending

_MICRO = 1_000_000


def report_tables(report: Report) -> tuple[Table, ...]:
    """Return what was used, what it cost, and the total against the period before."""
    return _used(report), _cost(report), _compared(report)


def _used(report: Report) -> Table:
    table = _table(report, "requests", "accepted", "rejected", "lost", "steps", "re-expansion", "share", "saved")
    for line in (*report.lines, report.total):
        now = line.now
        table.add_row(
            Text(line.name),
            *map(str, (now.requests, now.accepted, now.rejected, now.lost, now.steps, now.steps_re_expansion)),
            _share(now.re_expansion_share),
            _share(now.saved_share),
        )
    return table


def _cost(report: Report) -> Table:
    table = _table(report, "cost", "re-expansion", "share", "search", "control", "platform", "an answer", "before")
    for line in (*report.lines, report.total):
        now = line.now
        table.add_row(
            Text(line.name),
            _money(now.cost),
            _money(now.cost_re_expansion),
            _share(now.re_expansion_cost_share),
            _money(now.cost_search),
            _money(now.cost_control),
            _money(now.cost_platform),
            _money(now.unit_price),
            _money(line.before.unit_price),
        )
    if report.total.now.unpriced:
        table.caption = f"{report.total.now.unpriced} requests have no price and are in no cost"
    return table


def _compared(report: Report) -> Table:
    now, before = report.total.now, report.total.before
    table = Table()
    for name in ("total", "now", "before", "change"):
        table.add_column(name, justify="left" if name == "total" else "right", overflow="fold")
    for name, new, old in _counts(now, before):
        table.add_row(name, str(new), str(old), _change(new, old))
    for name, share, old_share in (
        ("re-expansion, share of steps", now.re_expansion_share, before.re_expansion_share),
        ("saved by exits, share of steps allocated", now.saved_share, before.saved_share),
    ):
        table.add_row(name, _share(share), _share(old_share), "")
    for name, price, old_price in (
        ("cost", now.cost, before.cost),
        ("cost of re-expansion", now.cost_re_expansion, before.cost_re_expansion),
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
        ("steps of control runs", now.steps_control, before.steps_control),
        ("steps saved by exits", now.steps_saved, before.steps_saved),
    )


def _table(report: Report, *names: str) -> Table:
    start, end = report.period.start.date(), report.period.end.date()
    table = Table(title=f"{start} up to {end}")
    table.add_column(str(report.by), overflow="fold")
    for name in names:
        table.add_column(name, justify="right", overflow="fold")
    return table


def _money(micro: float | None) -> str:
    return "" if micro is None else f"{micro / _MICRO:,.6f}"


def _share(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"


def _change(new: float | None, old: float | None) -> str:
    return "" if new is None or not old else f"{new / old - 1:+.1%}"
