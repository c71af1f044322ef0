"""The picture of the search bench: quality against all denoise steps, a line for each method, a panel for each task.

A line joins the arms of a method that are right more often than its cheaper ones; its others are dots.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from unmask.bench.report import Figure
from unmask.bench.search_items import TASKS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_QUALITY, _STEPS = ".quality", ".mean_steps"
_BASELINES = ("one", "retries")


def draw_searches(panels: "Iterable[Axes]", figures: Sequence[Figure], colours: Sequence[str]) -> None:
    """Draw a task type into each panel.

    Args:
        panels: as many as there are task types.
        figures: of the bench.
        colours: of the lines; baselines are black and grey.
    """
    for axes, task in zip(panels, TASKS, strict=True):
        for number, (method, points) in enumerate(_lines(figures, task).items()):
            is_baseline = method in _BASELINES
            colour = ("black", "#888888")[_BASELINES.index(method)] if is_baseline else colours[number % len(colours)]
            places = _frontier(points)
            others = [point for point in points if point not in places]
            axes.plot(
                [steps.value for steps, _ in others],
                [quality.value for _, quality in others],
                ".",
                color=colour,
                markersize=3,
                alpha=0.35,
            )
            axes.errorbar(
                [steps.value for steps, _ in places],
                [quality.value for _, quality in places],
                yerr=[
                    [quality.value - (quality.low or quality.value) for _, quality in places],
                    [(quality.high or quality.value) - quality.value for _, quality in places],
                ],
                fmt="s--" if is_baseline else "o-",
                color=colour,
                markersize=3,
                linewidth=1,
                elinewidth=0.5,
                label=method,
            )
        axes.set_title(task, fontsize=10)
        axes.set_xscale("log", base=2)
        axes.set_xlabel("denoise steps of everything that ran, mean")
        axes.set_ylabel("right answers, 95 % interval")
        axes.set_ylim(-0.02, 1.02)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(fontsize=6, frameon=False)


def _frontier(points: Sequence[tuple[Figure, Figure]]) -> list[tuple[Figure, Figure]]:
    """Return the arms of a method that are right more often than all of its cheaper ones, by steps."""
    found: list[tuple[Figure, Figure]] = []
    for point in sorted(points, key=lambda point: (point[0].value, -point[1].value)):
        if not found or point[1].value > found[-1][1].value:
            found.append(point)
    return found


def _lines(figures: Sequence[Figure], task: str) -> dict[str, list[tuple[Figure, Figure]]]:
    """Return steps and quality of every arm, by method, whatever their budgets."""
    found = {figure.name: figure for figure in figures}
    lines: dict[str, list[tuple[Figure, Figure]]] = {}
    for name, quality in found.items():
        arm = name.removeprefix(f"{task}.").removesuffix(_QUALITY)
        steps = found.get(f"{task}.{arm}{_STEPS}")
        if name.startswith(f"{task}.") and name.endswith(_QUALITY) and steps is not None:
            lines.setdefault(arm.partition("@")[0], []).append((steps, quality))
    return lines
