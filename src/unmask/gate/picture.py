"""Where the parts of a row's picture are: interval, estimate and threshold on one axis."""

import math
from dataclasses import dataclass

from unmask.gate.verdict import RowResult

MARGIN = 0.12
"""Of the axis, free at either side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """Places on an axis from 0 to 1; ``is_open`` is an interval whose upper end lies beyond the axis."""

    low: float
    estimate: float
    high: float
    threshold: float
    is_open: bool


def picture_of(result: RowResult) -> Picture | None:
    """Return the picture of a row that has an interval."""
    interval = result.interval
    if interval is None:
        return None
    is_open = math.isinf(interval.high)
    high = max(interval.estimate, result.row.threshold) if is_open else interval.high
    least, most = min(interval.low, result.row.threshold), max(high, result.row.threshold)
    span = (most - least) or 1.0

    def place(value: float) -> float:
        return MARGIN + (1 - 2 * MARGIN) * (value - least) / span

    return Picture(
        low=place(interval.low),
        estimate=place(interval.estimate),
        high=1.0 if is_open else place(high),
        threshold=place(result.row.threshold),
        is_open=is_open,
    )


def drawn(result: RowResult, width: int = 24) -> str:
    """Draw a row in characters: ``[--o--]`` is the interval around its estimate, ``|`` the threshold."""
    picture = picture_of(result)
    if picture is None:
        return " " * width

    def column(place: float) -> int:
        return min(width - 1, int(place * width))

    cells = [" "] * width
    low, high = column(picture.low), column(picture.high)
    cells[low : high + 1] = ["-"] * (high + 1 - low)
    cells[low], cells[high] = "[", ">" if picture.is_open else "]"
    cells[column(picture.estimate)] = "o"
    cells[column(picture.threshold)] = "|"
    return "".join(cells)


def figure_text(value: float, *, seconds: bool) -> str:
    """Write a value of a row as all reports do."""
    if math.isinf(value):
        return "beyond"
    return f"{value:.2f} s" if seconds else f"{value:.4f}"
