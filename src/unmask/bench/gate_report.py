"""The gate bench's report for people: an HTML page that needs nothing else, and Markdown with pictures beside it."""

from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from unmask.bench.gate_charts import alt_text, charts_of, drawn
from unmask.bench.gate_stages import MISCONCEPTIONS_WITHHELD, STATEMENTS_WITHHELD
from unmask.bench.gate_tables import tables_of
from unmask.bench.report import BenchReport
from unmask.errors import UnmaskError
from unmask.gate.report_markdown import plain, table

TITLE = "From naive triples to a completed graph, in two modes of the same weights"


def write_gate_report(report: BenchReport, folder: Path) -> tuple[Path, ...]:
    """Write ``gate.html``, ``gate.md`` and the pictures that it shows; return the first two.

    Raises:
        UnmaskError: the folder cannot be written.
    """
    environment = _environment()
    pictures = {chart.name: drawn(chart, environment) for chart in charts_of(report)}
    page, text = folder / "gate.html", folder / "gate.md"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, picture in pictures.items():
            (folder / f"{name}.svg").write_text(picture, encoding="utf-8")
        page.write_text(_html(report, environment, list(pictures.values())), encoding="utf-8")
        text.write_text(_markdown(report), encoding="utf-8")
    except OSError as error:
        raise UnmaskError(f"the report cannot be written to {str(folder)!r}: {error}; name another --report") from error
    return page, text


def _html(report: BenchReport, environment: Environment, pictures: list[str]) -> str:
    style = (files("unmask.gate") / "templates" / "report.css").read_text(encoding="utf-8")
    return environment.get_template("gate.html").render(
        title=TITLE,
        lines=_lines(report),
        tables=tables_of(report),
        pictures=[Markup(picture) for picture in pictures],  # noqa: S704 - drawn by a template that escapes
        style=Markup(style),  # noqa: S704 - the package's own file
    )


def _markdown(report: BenchReport) -> str:
    lines = [f"# {TITLE}", ""]
    lines += [part for line in _lines(report) for part in (plain(line), "")]
    for one in tables_of(report):
        cells = [tuple(map(plain, row)) for row in one.rows]
        lines += [f"## {plain(one.title)}", "", plain(one.note), "", *table(tuple(map(plain, one.heads)), cells), ""]
    lines += ["## Pictures", ""]
    for chart in charts_of(report):
        lines += [f"![{plain(chart.title)}: {plain(alt_text(chart))}]({chart.name}.svg)", ""]
    return "\n".join(lines)


def _lines(report: BenchReport) -> tuple[str, ...]:
    counts = {figure.name: figure for figure in report.figures}
    scenarios, clusters, seeds = (counts[name] for name in ("scenarios", "clusters", "seeds"))
    policy = "its default budget" if report.policy is None else f"policy {report.policy[:12]}"
    asked = (
        f"{scenarios.value:g} scenarios in {clusters.value:g} clusters ({scenarios.note}), asked with "
        f"seeds 0 to {seeds.value - 1:g} at {seeds.note} in every stage and mode. A cluster counts as one; "
        "all intervals are of 95 %."
    )
    model = (
        f"Model {report.model} {report.model_digest}, {report.precision}; diffusion runs under {policy}, and "
        "autoregressive decoding with a KV cache on the same engine."
    )
    graph = (
        f"The graph is incomplete without {STATEMENTS_WITHHELD:.0%} of its statements and "
        f"{MISCONCEPTIONS_WITHHELD:.0%} of its misconception records; answers are judged by the whole world."
    )
    return (*(("Quick: these figures decide nothing.",) if report.quick else ()), asked, model, graph)


def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("unmask.bench", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
