"""The picture of the business bench: what is saved, and what that does to quality, side by side."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from unmask.bench.report import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SAVED, _QUALITY = ".saved", ".quality_difference"


def draw_savings(panels: "Iterable[Axes]", figures: Sequence[Figure], colours: Sequence[str]) -> None:
    """Draw the shares that are saved into one panel and the differences of quality into another, with intervals.

    Args:
        panels: two.
        figures: of the bench.
        colours: one for each panel.
    """
    ends = ((_SAVED, "share saved, 95 %"), (_QUALITY, "quality with it minus without it, 95 %"))
    for axes, (end, label), colour in zip(panels, ends, colours, strict=False):
        rows = [figure for figure in figures if figure.name.endswith(end)][::-1]
        for place, figure in enumerate(rows):
            low, high = (figure.value if value is None else value for value in (figure.low, figure.high))
            axes.errorbar(
                [figure.value], [place], xerr=[[figure.value - low], [high - figure.value]], fmt="o", color=colour,
                capsize=3,
            )  # fmt: skip
        axes.set_yticks(range(len(rows)), [figure.name.removesuffix(end).replace("_", " ") for figure in rows])
        axes.axvline(0, color="#888888", linewidth=0.8)
        axes.set_xlabel(label)
        axes.spines[["top", "right"]].set_visible(False)
