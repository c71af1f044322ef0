"""The picture of the layers bench: a bar a row against its target, and beside it the quality that it costs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from unmask.bench.report import Figure, MustReach

if TYPE_CHECKING:
    from matplotlib.axes import Axes

QUALITY = ".quality_difference"
"""Ends the name of the figure that stands beside each row's own."""


def draw_layers(
    panels: "Sequence[Axes]", figures: Sequence[Figure], targets: Sequence[MustReach], colours: Sequence[str]
) -> None:
    """Draw figures over their targets, then differences of quality, each with its interval.

    Args:
        panels: two, side by side.
        figures: of the bench.
        targets: of its rows; a row without one is drawn grey, against 1.
        colours: of rows that meet their targets, and of those that do not.
    """
    by_name = {figure.name: figure for figure in figures}
    wanted = {entry.name: entry for entry in targets}
    names = rows_of(list(by_name))[::-1]
    left, right = panels
    places = range(len(names))
    for place, name in enumerate(names):
        figure, entry = by_name[name], wanted.get(name)
        scale = 1.0 if entry is None else entry.target
        held = all(one.holds for one in targets if one.name in {name, f"{name}{QUALITY}"})
        colour = "#888888" if entry is None else colours[0 if held else 1]
        left.barh(place, figure.value / scale, 0.4, color=colour, xerr=_ends(figure, scale))
        against = "no target" if entry is None else f"target {entry.op} {entry.target:g}"
        left.text(0, place + 0.2, f" {figure.value:.3g} ({against})", fontsize=7, va="bottom")
        quality = by_name[f"{name}{QUALITY}"]
        right.errorbar(quality.value, place, xerr=_ends(quality, 1.0), fmt="o", color=colours[2], capsize=3)
    left.axvline(1.0, color="black", linewidth=1, linestyle="--")
    left.set_yticks(list(places), names)
    left.set_ylim(-0.6, len(names) - 0.2)
    left.set_xlabel("measured over target, 95 % interval")
    right.axvline(0.0, color="black", linewidth=1, linestyle="--")
    right.set_yticks(list(places), [""] * len(names))
    right.set_ylim(-0.6, len(names) - 0.2)
    right.set_xlabel("right answers on less off, 95 % interval")
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)


def rows_of(names: Sequence[str]) -> list[str]:
    """Return the rows among names of figures: those that have a quality beside them under their own name."""
    return [name for name in names if f"{name}{QUALITY}" in names]


def _ends(figure: Figure, scale: float) -> list[list[float]] | None:
    if figure.low is None or figure.high is None:
        return None
    return [[(figure.value - figure.low) / scale], [(figure.high - figure.value) / scale]]
