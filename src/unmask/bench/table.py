"""A report as tables and bars in the terminal."""

from rich.console import Console
from rich.table import Table

from unmask.bench.report import BenchReport, Figure

BAR_WIDTH = 24


def print_report(report: BenchReport, console: Console) -> None:
    """Print figures, a bar for each share, and the targets."""
    title = f"bench {report.name}, {report.model} {report.model_digest}, {report.precision}, seed {report.seed}"
    table = Table(title=title + (", quick: decides nothing" if report.quick else ""))
    for heading in ("figure", "value", "95 % interval", "", "note"):
        table.add_column(heading, no_wrap=heading == "figure")
    for figure in report.figures:
        table.add_row(figure.name, _number(figure.value, figure.unit), _interval(figure), _bar(figure), _note(figure))
    console.print(table)
    targets = Table(title="must reach")
    for heading in ("figure", "value", "bound", "target", "holds"):
        targets.add_column(heading)
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
