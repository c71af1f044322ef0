"""Gate decisions, plans and comparisons on a terminal."""

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from unmask.cli.tools import Tools
from unmask.gate.compare import RowChange
from unmask.gate.counted import counted
from unmask.gate.picture import drawn
from unmask.gate.planning import RowPlan
from unmask.gate.report_words import (
    basis_text,
    headline,
    interval_text,
    paired_text,
    signed_text,
    verdict_text,
)
from unmask.gate.verdict import GateReport, Verdict

STYLES = {Verdict.PASS: "green", Verdict.FAIL: "red", Verdict.INCONCLUSIVE: "yellow"}


def print_report(report: GateReport, tools: Tools) -> None:
    """Show a decision: rows with pictures, then pairs, warnings and the verdict."""
    tools.out.print(rows_table(report))
    for result in report.rows:
        if result.paired is not None and result.paired.difference is not None:
            tools.out.print(Text(f"{result.row.name}, model less against: {paired_text(result.paired)}"))
    for warning in report.warnings:
        tools.say(f"warning: {warning}")
    tools.out.print(Text(headline(report), style=f"bold {STYLES[report.verdict]}"))


def rows_table(report: GateReport) -> Table:
    """Return a row a condition."""
    table = Table(show_lines=True)
    table.add_column("row", overflow="fold")
    table.add_column("verdict", no_wrap=True)
    # Whatever may not be folded is as wide as it is; a least width would push the table over the terminal's edge.
    table.add_column("o figure, [ interval ],\n| threshold", no_wrap=True)
    table.add_column("why", overflow="fold")
    for result in report.rows:
        table.add_row(
            Text(f"{result.row.name}\n{result.row.words}"),
            Text(result.verdict.value, style=STYLES[result.verdict]),
            Text(f"{interval_text(result.interval, result.row.metric)}\n{drawn(result)}".rstrip()),
            Text(f"{verdict_text(result)}\n{basis_text(result)}; {result.method}"),
        )
    return table


def plan_table(plans: Sequence[RowPlan], power: float) -> Table:
    """Return a row a condition: what it needs and how likely it passes."""
    named = (plan.row.name for plan in plans)
    table = Table(caption="expected is by --rates; a row that it does not name is expected to be perfect")
    table.add_column("row", overflow="fold", width=max(map(len, named), default=0))
    for name in ("expected", f"needed for {power:.0%}", "there are", "chance to pass", ""):
        table.add_column(name, overflow="fold")
    for plan in plans:
        table.add_row(
            Text(f"{plan.row.name}\n{plan.row.words}"),
            f"{plan.rate:g}",
            "no number would do" if plan.needed is None else counted(plan.needed, plan.row.unit),
            "" if plan.units is None else str(plan.units),
            "" if plan.chance is None else f"{plan.chance:.1%}",
            Text("can never pass", style="red") if plan.can_pass is False else "",
        )
    return table


def changes_table(changes: Sequence[RowChange]) -> Table:
    """Return a row a condition: what changed by measurement and what by quality."""
    table = Table()
    for name in ("row", "before", "after", "measurement", "quality", "verdicts"):
        table.add_column(name, overflow="fold")
    for change in changes:
        table.add_row(
            Text(change.row.name),
            interval_text(change.old, change.row.metric),
            interval_text(change.new, change.row.metric),
            signed_text(change.measurement),
            signed_text(change.quality),
            " > ".join("none" if verdict is None else verdict.value for verdict in change.verdicts),
        )
    return table
