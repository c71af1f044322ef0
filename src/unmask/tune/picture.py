"""One picture a task type: what steps buy, and where floor, default and ceiling lie."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from unmask.errors import UnmaskError
from unmask.stats import Interval, IntervalResult
from unmask.tune.curve import CurveSet
from unmask.tune.errors import CurveRunError
from unmask.tune.landmarks import MeasuredLandmarks
from unmask.tune.report import CurveReport
from unmask.tune.task_strategy import strategy_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's palette: told apart by every kind of colour vision.
BLUE, ORANGE, GREEN, RED, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#666666"


def check_pictures() -> None:
    """Tell whether pictures can be drawn.

    Raises:
        UnmaskError: matplotlib is not installed.
    """
    if find_spec("matplotlib") is None:
        raise UnmaskError("pictures need matplotlib: pip install '.[charts]' in a checkout")


def save_curve_picture(report: CurveReport, curves: CurveSet, path: Path) -> None:
    """Draw a curve as SVG; see `check_pictures`.

    Raises:
        CurveRunError: it cannot be written.
    """
    import matplotlib as mpl  # noqa: PLC0415 - an extra
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra

    figure = Figure(figsize=(7.5, 5.4), layout="constrained")
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    _draw_quality(top, report)
    _draw_latency(bottom, report)
    _mark(top, bottom, report)
    top.set_title(_headline(report), loc="left", fontsize=12, fontweight="bold")
    settings = curves.settings
    figure.supxlabel(
        f"{settings.model} {settings.model_digest}, {strategy_name(settings.strategy_of(report.task))}, "
        f"canvas of {settings.canvas_length}, {report.items} items to {settings.split}, "
        f"{settings.in_flight} at a time, {curves.origin.date[:10]}",
        fontsize=7,
        color=GREY,
    )
    try:
        # Equal runs draw equal files.
        with mpl.rc_context({"svg.hashsalt": report.task}):
            figure.savefig(path, format="svg", metadata={"Date": None})
    except OSError as error:
        raise CurveRunError(f"cannot write the picture {str(path)!r}: {error}; free some space") from error


def _headline(report: CurveReport) -> str:
    best = report.points[-1].fitted
    if report.landmarks is None:
        return f"{report.task}: {best:.0%} right at best"
    if not isinstance(report.landmarks, MeasuredLandmarks):
        return f"{report.task}: not enough data"
    at = report.landmarks.at
    if at.flat:
        return f"{report.task}: flat, steps gain less than 3 points ({best:.0%} right)"
    default = "" if at.knee == at.saturation else f"{at.knee} steps by default, "
    collapse = "" if at.collapse is None else f", under {at.floor} it collapses"
    steps = "" if default else " steps"
    return f"{report.task}: {default}{at.saturation}{steps} reach {best:.0%}{collapse}"


def _draw_quality(axes: "Axes", report: CurveReport) -> None:
    budgets = [point.budget for point in report.points]
    low, high = zip(*(_ends(point.quality, point.fitted) for point in report.points), strict=True)
    axes.fill_between(budgets, low, high, color=BLUE, alpha=0.15, linewidth=0)
    axes.plot(budgets, [point.fitted for point in report.points], color=BLUE, linewidth=2)
    measured = [_ends(point.quality, point.fitted, middle=True)[0] for point in report.points]
    axes.plot(budgets, measured, "o", color=BLUE, markersize=4)
    axes.set_ylim(0, 1.05)
    axes.set_ylabel("right answers (dots, 95 %), rising fit (line)")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    axes.grid(visible=True, color="#e5e5e5", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)


def _draw_latency(axes: "Axes", report: CurveReport) -> None:
    budgets = [point.budget for point in report.points]
    for name, colour in (("p50", GREEN), ("p95", ORANGE)):
        results = [getattr(point, name) for point in report.points]
        ends = [(_ends(result, 0.0), _ends(result, 0.0, middle=True)[0]) for result in results]
        known = [(budget, *end) for budget, end, result in zip(budgets, ends, results, strict=True) if _is(result)]
        if known:
            places = [budget for budget, _, _ in known]
            low, high = [band[0] for _, band, _ in known], [band[1] for _, band, _ in known]
            axes.fill_between(places, low, high, color=colour, alpha=0.2, linewidth=0)
            axes.plot(places, [middle for _, _, middle in known], color=colour, marker="o", markersize=3, label=name)
            axes.legend(loc="upper left", fontsize=8, frameon=False)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("seconds")
    axes.set_xlabel("max_steps per canvas")
    axes.set_xscale("log", base=2)
    axes.set_xticks(budgets, list(map(str, budgets)))
    axes.set_xticks([], minor=True)
    axes.grid(visible=True, color="#e5e5e5", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)


def _mark(top: "Axes", bottom: "Axes", report: CurveReport) -> None:
    """Shade what collapses, and name floor, default and ceiling; marks that share a budget share a line."""
    if not isinstance(report.landmarks, MeasuredLandmarks):
        return
    at = report.landmarks.at
    if at.collapse is not None:
        for axes in (top, bottom):
            axes.axvspan(report.points[0].budget, at.collapse, color=RED, alpha=0.08, linewidth=0)
        top.text(report.points[0].budget, 1.01, " collapsed", color=RED, fontsize=8, va="bottom")
    names: dict[int, list[str]] = {}
    for name, budget in (("floor", at.floor), ("default", at.knee), ("ceiling", at.saturation)):
        names.setdefault(budget, []).append(name)
    for budget, said in names.items():
        for axes in (top, bottom):
            axes.axvline(budget, color=GREY, linewidth=1, linestyle="--")
        # Left of its line, but for a line at the left end.
        side, place = ("left", 2) if budget == report.points[0].budget else ("right", -2)
        top.annotate(
            f"{', '.join(said)} {budget}",
            (budget, 0.02),
            xytext=(place, 0),
            textcoords="offset points",
            fontsize=9,
            rotation=90,
            ha=side,
            va="bottom",
        )


def _is(result: IntervalResult) -> bool:
    return isinstance(result, Interval)


def _ends(result: IntervalResult, fallback: float, *, middle: bool = False) -> tuple[float, float]:
    if not isinstance(result, Interval):
        return fallback, fallback
    return (result.estimate, result.estimate) if middle else (result.low, result.high)
