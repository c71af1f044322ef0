"""A report as tables and bars in the terminal."""

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from unmask.bench.report import BenchReport, Figure

BAR_WIDTH = 24


def print_report(report: BenchReport, console: Console) -> None:
    """Print figures, a bar for each share, and the targets."""
    title = f"bench {report.name}, {report.model} {report.model_digest}, {report.precision}, seed {report.seed}"
    table = Table(title=title + (", quick: decides nothing" if report.quick else ""))
    with_bars = any(_bar(figure) for figure in report.figures)
    table.add_column("figure", overflow="fold")
    # Numbers are never cut, however narrow the terminal and long the names.
    for heading in ("value", "95 % interval", *([""] if with_bars else [])):
        table.add_column(heading, no_wrap=True)
    table.add_column("note", overflow="fold")
    for figure in report.figures:
        bars = [_bar(figure)] if with_bars else []
        name, note = escape(figure.name), escape(_note(figure))
        table.add_row(name, _number(figure.value, figure.unit), _interval(figure), *bars, note)
    console.print(table)
    targets = Table(title="must reach")
    targets.add_column("figure", overflow="fold")
    for heading in ("value", "bound", "target", "holds"):
        targets.add_column(heading, no_wrap=True)
    for entry in report.must_reach:
        bound = "not enough data" if entry.bound is None else _number(entry.bound, "")
        verdict = "[green]yes[/green]" if entry.holds else "[red]no[/red]"
        targets.add_row(entry.name, _number(entry.value, ""), bound, f"{entry.op} {entry.target:g}", verdict)
    console.print(targets)


def _note(figure: Figure) -> str:
    return figure.note if figure.n is None else f"n = {figure.n} {figure.note}".strip()


def _number(value: float, unit: str) -> str:
    return f"{value:.4g} {unit}".strip()


def _interval(figure: Figure) -> str:
    if figure.low is None or figure.high is None:
        return ""
    return f"{figure.low:.4g} – {figure.high:.4g}"


def _bar(figure: Figure) -> str:
    """Return a bar for figures that are shares of one."""
    is_share = not figure.unit and 0 <= figure.value <= 1 and ("accuracy" in figure.name or "quality" in figure.name)
    return "█" * round(figure.value * BAR_WIDTH) if is_share else ""
