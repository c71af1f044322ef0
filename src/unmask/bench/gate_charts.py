"""The pictures of the gate bench's report: values of some series with their intervals, as SVG."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jinja2 import Environment

from unmask.bench.ar_load import CONCURRENCY
from unmask.bench.gate_figures import HALLUCINATION, PRECISION
from unmask.bench.gate_journal import Arm
from unmask.bench.gate_stages import Stage
from unmask.bench.gate_tables import short
from unmask.bench.modes import BOTH_MODES
from unmask.bench.pictures import COLOURS
from unmask.bench.report import BenchReport, Figure

WIDTH, HEIGHT = 640, 300
LEFT, RIGHT, TOP, BOTTOM = 56, 12, 56, 40
TICKS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """A name, and a figure for each place of a chart."""

    name: str
    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """What is drawn.

    Attributes:
        name: of its file.
        labels: of the places, from left to right.
        unit: of the upright axis; ``factor`` turns figures into it.
        most: end of the axis; ``None`` leaves it to the figures.
        is_log: whether the axis is logarithmic.
    """

    name: str
    title: str
    labels: tuple[str, ...]
    series: tuple[Series, ...]
    unit: str
    factor: float = 1.0
    most: float | None = None
    is_log: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """Where a figure is drawn, in the chart's own units."""

    x: float
    y: float
    low: float
    high: float
    text: str


def charts_of(report: BenchReport) -> tuple[Chart, ...]:
    """Return the charts of a report."""
    found = {figure.name: figure for figure in report.figures}
    stages = tuple(stage.label for stage in Stage)
    return (
        Chart(
            name="precision", title="Factual precision", labels=stages, series=_of_stages(found, PRECISION),
            unit="%", factor=100, most=100,
        ),
        Chart(
            name="hallucination", title="Hallucination", labels=stages, series=_of_stages(found, HALLUCINATION),
            unit="%", factor=100,
        ),
        Chart(
            name="latency", title="Median latency in batches of 16", labels=stages,
            series=_of_stages(found, "latency_p50"), unit="ms", factor=1000,
        ),
        Chart(
            name="load", title="Requests a second over requests at once", labels=tuple(map(str, CONCURRENCY)),
            series=tuple(
                Series(name=mode, figures=tuple(found[f"{mode}_{one}.requests_per_s"] for one in CONCURRENCY))
                for mode in BOTH_MODES
            ),
            unit="1/s", is_log=True,
        ),
    )  # fmt: skip


def drawn(chart: Chart, environment: Environment) -> str:
    """Draw a chart as SVG that stands alone or in a page."""
    low, high = _ends(chart)
    ticks = [low + (high - low) * number / (TICKS - 1) for number in range(TICKS)]
    return environment.get_template("chart.svg").render(
        chart=chart,
        alt=alt_text(chart),
        width=WIDTH,
        height=HEIGHT,
        left=LEFT,
        right=WIDTH - RIGHT,
        bottom=HEIGHT - BOTTOM,
        places=[_across(chart, place) for place in range(len(chart.labels))],
        ticks=[(_upright(tick, low, high), short(_back(chart, tick))) for tick in ticks],
        lines=[
            (one.name, COLOURS[number], 240 * number + LEFT, _points(chart, one, low, high, number))
            for number, one in enumerate(chart.series)
        ],
    )


def _of_stages(found: Mapping[str, Figure], what: str) -> tuple[Series, ...]:
    return tuple(
        Series(name=mode, figures=tuple(found[f"{Arm(stage=stage, mode=mode).name}.{what}"] for stage in Stage))
        for mode in BOTH_MODES
    )


def _points(chart: Chart, series: Series, low: float, high: float, number: int) -> list[Point]:
    points: list[Point] = []
    for place, figure in enumerate(series.figures):
        # Side by side, so that intervals of one place do not hide one another.
        x = _across(chart, place) + 8 * (number - (len(chart.series) - 1) / 2)
        y, least, most = (
            _upright(_forth(chart, value), low, high) for value in (figure.value, _low(figure), _high(figure))
        )
        points.append(Point(x=x, y=y, low=least, high=most, text=f"{short(chart.factor * figure.value)} {chart.unit}"))
    return points


def _ends(chart: Chart) -> tuple[float, float]:
    """Return the ends of the upright axis, as logarithms where it is logarithmic."""
    figures = [figure for series in chart.series for figure in series.figures]
    most = max(_forth(chart, _high(figure)) for figure in figures)
    if chart.is_log:
        least = min(_forth(chart, _low(figure)) for figure in figures)
        return math.floor(2 * least) / 2, max(math.ceil(2 * most), math.floor(2 * least) + 1) / 2
    return 0.0, chart.most or max(most * 1.05, 1e-9)


def _forth(chart: Chart, value: float) -> float:
    scaled = chart.factor * value
    return math.log10(max(scaled, 1e-9)) if chart.is_log else scaled


def _back(chart: Chart, value: float) -> float:
    return 10**value if chart.is_log else value


def _across(chart: Chart, place: int) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * (place + 0.5) / len(chart.labels)


def _upright(value: float, low: float, high: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value - low) / (high - low)


def _low(figure: Figure) -> float:
    return figure.value if figure.low is None else figure.low


def _high(figure: Figure) -> float:
    return figure.value if figure.high is None else figure.high


def alt_text(chart: Chart) -> str:
    """Say what a chart shows, for who cannot see it."""
    return "; ".join(f"{one.name} {_told(chart, one.figures)}" for one in chart.series)


def _told(chart: Chart, figures: Sequence[Figure]) -> str:
    return ", ".join(
        f"{label} {short(chart.factor * figure.value)} {chart.unit}"
        for label, figure in zip(chart.labels, figures, strict=True)
    )
