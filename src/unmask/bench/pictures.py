"""Pictures of bench results, for the README and for a first look."""

from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from unmask.bench.business_picture import draw_savings
from unmask.bench.gate_stages import Stage
from unmask.bench.layers_picture import draw_layers
from unmask.bench.report import BenchReport, Figure
from unmask.bench.search_picture import draw_searches
from unmask.errors import UnmaskError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's palette: told apart by every kind of colour vision.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9")

Panel = Callable[["Axes", Sequence[Figure]], None]

_BARS = {
    "isolation": ("latency_p99", "latency_p50"),
    "batching": ("requests_per_s", "useful_share"),
    "speculation": ("tokens_per_round", "accepted_per_round"),
    "precision": ("batch_16.requests_per_s", "weight_bytes"),
    "agreement": ("steps_per_s", "tokens_per_step"),
    "gateway": ("latency_p50_ms", "requests_per_s"),
}
"""Figures of every arm that the two halves of a bench's picture show as bars."""


def check_pictures() -> None:
    """Tell whether pictures can be drawn.

    Raises:
        UnmaskError: matplotlib is not installed.
    """
    if find_spec("matplotlib") is None:
        raise UnmaskError("pictures need matplotlib: pip install '.[charts]' in a checkout")


def save_picture(report: BenchReport, path: Path) -> None:
    """Draw the report's picture; see `check_pictures`."""
    import matplotlib as mpl  # noqa: PLC0415 - an extra

    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415 - an extra

    rows = 2 if report.name == "search" else 1
    # The layers bench has a line for each of its rows.
    height = 6.5 if report.name == "layers" else 4.2 * rows
    figure, grid = plt.subplots(rows, 2, figsize=(11, height), layout="constrained", squeeze=False)
    axes = list(grid.flat)
    _draw(axes, report)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _draw(axes: "Sequence[Axes]", report: BenchReport) -> None:
    figures = report.figures
    match report.name:
        case name if name in _BARS:
            for panel, what in zip(axes, _BARS[name], strict=True):
                _draw_bars(panel, figures, what)
        case name if name in _PANELS:
            for panel, draw in zip(axes, _PANELS[name], strict=True):
                draw(panel, figures)
        case "policy":
            _draw_arms(axes[0], figures, "")
            _draw_arms(axes[1], figures, "drifted.")
        case "search":
            draw_searches(axes, figures, COLOURS)
        case "layers":
            draw_layers(axes, figures, report.must_reach, COLOURS)
        case "business":
            draw_savings(axes, figures, COLOURS)
        case _:
            raise ValueError(f"nobody has said how the picture of {report.name} is drawn")


def _draw_bars(axes: "Axes", figures: Sequence[Figure], what: str) -> None:
    """Draw one figure of every arm, on a logarithmic axis where arms are far apart."""
    rows = [(figure.name.split(".")[0], figure) for figure in figures if figure.name.endswith(f".{what}")]
    unit = rows[0][1].unit if rows else ""
    _draw_named(axes, rows, _in_words(what, unit))
    values = [figure.value for _, figure in rows]
    if values and min(values) > 0 and max(values) / min(values) > 20:
        axes.set_xscale("log")


def _in_words(what: str, unit: str) -> str:
    """Return a figure's name with its unit, which many a name says already: ``latency_p50_ms``, ``requests_per_s``."""
    words = what.removesuffix(f"_{unit}").replace("_", " ")
    return words if unit == "1/s" and words.endswith(" per s") else f"{words}, {unit}".removesuffix(", ")


def _rounded(value: float) -> str:
    """Return three digits, and from a thousand on all whole ones."""
    return f"{value:.3g}" if abs(value) < 999.5 else f"{value:,.0f}"


def _draw_named(axes: "Axes", rows: Sequence[tuple[str, Figure]], meaning: str) -> None:
    """Draw a bar for each figure, with its interval where it has one."""
    values = [figure.value for _, figure in rows]
    low = [figure.value - (figure.value if figure.low is None else figure.low) for _, figure in rows]
    high = [(figure.value if figure.high is None else figure.high) - figure.value for _, figure in rows]
    axes.barh([name for name, _ in rows], values, xerr=[low, high], color=COLOURS[0], ecolor="black", capsize=2)
    axes.bar_label(axes.containers[-1], fmt=_rounded, padding=6)  # type: ignore[arg-type]
    axes.margins(x=0.15)
    axes.set_xlabel(meaning)
    axes.spines[["top", "right"]].set_visible(False)


def _draw_replicas(axes: "Axes", figures: Sequence[Figure]) -> None:
    # The other arms of that name are of another workload.
    rows = [(f"replicas: {arm}", figure) for arm, figure in _between(figures, "throughput[", "]") if arm.isdigit()]
    _draw_named(axes, rows, "long requests a second, 95 % interval")


def _draw_hits(axes: "Axes", figures: Sequence[Figure]) -> None:
    _draw_named(axes, _between(figures, "hit_rate[", "]"), "share of prompt tokens found cached, 95 % interval")


def _draw_kv(axes: "Axes", figures: Sequence[Figure]) -> None:
    _draw_named(axes, _between(figures, "", "_kv"), "KV of a conversation, KiB, by its length in tokens")


def _draw_filled(axes: "Axes", figures: Sequence[Figure]) -> None:
    _draw_named(axes, _between(figures, "", "_filled_share"), "share of its pages that is filled")


def _between(figures: Sequence[Figure], start: str, end: str) -> list[tuple[str, Figure]]:
    """Return the figures whose names begin and end so, by what stands between."""
    found = (figure for figure in figures if figure.name.startswith(start) and figure.name.endswith(end))
    return [(figure.name.removeprefix(start).removesuffix(end), figure) for figure in found]


def _draw_throughput(axes: "Axes", figures: Sequence[Figure]) -> None:
    rows = [(figure.name.split(".")[0], figure.value) for figure in figures if figure.name.endswith(".requests_per_s")]
    rows.sort(key=lambda row: row[1])
    axes.barh([name for name, _ in rows], [value for _, value in rows], color=COLOURS[0])
    axes.bar_label(axes.containers[0], fmt="%.1f", padding=3)  # type: ignore[arg-type]
    axes.set_xlabel("requests a second, same 256 requests and weights")
    axes.spines[["top", "right"]].set_visible(False)


def _draw_shares(axes: "Axes", figures: Sequence[Figure]) -> None:
    names = [figure.name.split(".")[0] for figure in figures if figure.name.endswith(".forward_share")]
    shares = [figure.value for figure in figures if figure.name.endswith(".forward_share")]
    peaks = [figure.value for figure in figures if figure.name.endswith(".forward_vs_peak")]
    places = range(len(names))
    axes.barh([place + 0.2 for place in places], shares, 0.4, color=COLOURS[2], label="forward, share of wall time")
    axes.barh([place - 0.2 for place in places], peaks, 0.4, color=COLOURS[1], label="forward, share of matmul peak")
    axes.set_yticks(list(places), names)
    axes.set_xlim(0, 1)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, fontsize=8, frameon=False)
    axes.spines[["top", "right"]].set_visible(False)


def _draw_curves(axes: "Axes", figures: Sequence[Figure]) -> None:
    mark = ".quality_at_"
    curves: dict[str, list[tuple[int, Figure]]] = {}
    for figure in figures:
        if mark in figure.name:
            task, steps = figure.name.split(mark)
            curves.setdefault(task, []).append((int(steps), figure))
    for colour, (task, points) in zip(COLOURS, curves.items(), strict=False):
        budgets = [place for place, _ in points]
        axes.plot(budgets, [point.value for _, point in points], color=colour, marker="o", markersize=3, label=task)
        low = [point.value if point.low is None else point.low for _, point in points]
        high = [point.value if point.high is None else point.high for _, point in points]
        axes.fill_between(budgets, low, high, color=colour, alpha=0.15, linewidth=0)
    axes.set_xscale("log", base=2)
    axes.set_xlabel("max_steps per canvas")
    axes.set_ylabel("right answers, 95 % interval")
    axes.set_ylim(0, 1.02)
    axes.legend(fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)


def _draw_accuracy(axes: "Axes", figures: Sequence[Figure]) -> None:
    full = {figure.name: figure for figure in figures if figure.name.endswith("_accuracy") and "[" not in figure.name}
    values = {figure.name: figure.value for figure in figures}
    names = [name.removesuffix("_accuracy") for name in full]
    places = range(len(names))
    axes.bar(
        [place - 0.2 for place in places],
        [entry.value for entry in full.values()],
        0.4,
        color=COLOURS[0],
        label="diffusion, one step a position",
    )
    axes.bar(
        [place + 0.2 for place in places],
        [values.get(f"{name}_ar", 0.0) for name in full],
        0.4,
        color=COLOURS[1],
        label="autoregressive, same weights",
    )
    axes.set_xticks(list(places), names, rotation=20)
    axes.set_ylim(0, 1.02)
    axes.set_ylabel("right answers within the stated difficulty")
    axes.legend(fontsize=8, loc="lower right")
    axes.spines[["top", "right"]].set_visible(False)


def _draw_arms(axes: "Axes", figures: Sequence[Figure], mixture: str) -> None:
    """Draw an arm a point, steps against quality; the budgets of the grid, where there are any, as a line."""
    found = {figure.name: figure for figure in figures}
    mark = ".mean_steps"
    names = [name.removesuffix(mark) for name in found if name.startswith(mixture) and name.endswith(mark)]
    arms = [name for name in names if f"{name}.p95_steps" in found and name.startswith("drifted.") is bool(mixture)]
    grid = [name for name in names if name.removeprefix("fixed_").isdecimal()]
    if grid:
        line = [(found[f"{name}{mark}"].value, found[f"{name}.quality"].value) for name in grid]
        axes.plot(*zip(*line, strict=True), color="#BBBBBB", marker=".", zorder=0, label="fixed, budget by budget")
    for place, name in enumerate(arms):
        steps, quality = found[f"{name}{mark}"], found[f"{name}.quality"]
        axes.errorbar(
            steps.value,
            quality.value,
            xerr=_ends(steps),
            yerr=_ends(quality),
            fmt="os^D"[place // len(COLOURS) % 4],
            color=COLOURS[place % len(COLOURS)],
            markersize=5,
            capsize=2,
            label=name.removeprefix(mixture),
        )
    axes.set_xscale("log", base=2)
    axes.set_xlabel("denoise steps a request, mean with 95 % interval")
    axes.set_ylabel("right answers, 95 % interval")
    axes.set_title("drifted mixture" if mixture else "frozen mixture", fontsize=10)
    axes.legend(fontsize=7)
    axes.spines[["top", "right"]].set_visible(False)


def _ends(figure: Figure) -> list[list[float]] | None:
    """Return how far the ends of an interval are from its value; nothing without one."""
    if figure.low is None or figure.high is None:
        return None
    return [[figure.value - figure.low], [figure.high - figure.value]]


def _draw_stages(axes: "Axes", figures: Sequence[Figure]) -> None:
    """Draw how often each stage and mode says something false."""
    found = {figure.name: figure for figure in figures}
    for number, (mode, quality) in enumerate(
        (mode, quality)
        for quality in ("factual_precision", "hallucination")
        for mode in ("diffusion", "autoregressive")
    ):
        points = [found[f"{stage}.{mode}.{quality}"] for stage in Stage]
        places = [place + 0.06 * (number % 2) for place in range(len(points))]
        axes.errorbar(
            places,
            [point.value for point in points],
            yerr=[_end(points, 0), _end(points, 1)],
            fmt="o-" if mode == "diffusion" else "s--",
            color=COLOURS[number // 2 * 3],
            markersize=4,
            capsize=2,
            label=f"{quality.replace('_', ' ')}, {mode}",
        )
    axes.set_xticks(range(len(Stage)), [stage.label.replace(" ", "\n") for stage in Stage])
    axes.set_ylim(-0.02, 1.02)
    axes.set_ylabel("mean of cluster means, 95 % interval")
    axes.legend(fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)


def _end(points: Sequence[Figure], side: int) -> list[float]:
    return [0.0 if (ends := _ends(point)) is None else ends[side][0] for point in points]


def _draw_load(axes: "Axes", figures: Sequence[Figure]) -> None:
    """Draw requests a second over concurrency."""
    mark = ".requests_per_s"
    for number, mode in enumerate(("diffusion", "autoregressive")):
        points = [figure for figure in figures if figure.name.startswith(f"{mode}_") and figure.name.endswith(mark)]
        clients = [int(point.name.removeprefix(f"{mode}_").removesuffix(mark)) for point in points]
        axes.errorbar(
            clients,
            [point.value for point in points],
            yerr=[_end(points, 0), _end(points, 1)],
            fmt="o-",
            color=COLOURS[number],
            markersize=4,
            capsize=2,
            label=mode,
        )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel("requests at once")
    axes.set_ylabel("requests a second, 95 % interval")
    axes.legend(fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)


def _draw_rates(axes: "Axes", figures: Sequence[Figure]) -> None:
    rows = [(figure.name.split(".")[0], figure.value) for figure in figures if figure.name.endswith(".rows_per_s")]
    axes.barh([name for name, _ in rows], [value for _, value in rows], color=COLOURS[0])
    axes.bar_label(axes.containers[0], fmt="%.0f", padding=3)  # type: ignore[arg-type]
    axes.set_xlabel("rows a second, 50 writers of one tenant")
    axes.spines[["top", "right"]].set_visible(False)


def _draw_waits(axes: "Axes", figures: Sequence[Figure]) -> None:
    names = [figure.name.split(".")[0] for figure in figures if figure.name.endswith(".rows_per_s")]
    places = range(len(names))
    for index, (call, label) in enumerate(
        (("reserve", "p50"), ("reserve", "p99"), ("settle", "p50"), ("settle", "p99"))
    ):
        waits = [1_000 * figure.value for figure in figures if figure.name.endswith(f".{call}_{label}")]
        axes.barh([place + 0.3 - 0.2 * index for place in places], waits, 0.2, label=f"{call} {label}")
    axes.set_yticks(list(places), names)
    axes.set_xlabel("milliseconds")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4, fontsize=8, frameon=False)
    axes.spines[["top", "right"]].set_visible(False)


_PANELS: Mapping[str, tuple[Panel, Panel]] = MappingProxyType(
    {
        "engine": (_draw_throughput, _draw_shares),
        "gate": (_draw_stages, _draw_load),
        "ledger": (_draw_rates, _draw_waits),
        "scale": (_draw_replicas, _draw_hits),
        "conversation": (_draw_kv, _draw_filled),
        "model": (_draw_curves, _draw_accuracy),
    }
)
"""What the two halves of a bench's picture show."""
