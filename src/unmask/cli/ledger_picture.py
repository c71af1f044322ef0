"""The picture of a ledger's report."""

import warnings
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from unmask.cli.exits import UsageError
from unmask.errors import UnmaskError
from unmask.ledger.report import Report, Spending

KINDS = (".png", ".svg")
MOST_LINES = 20
"""The costliest lines are drawn; the rest are one bar together."""
OTHERS = "others"
_LONGEST_NAME = 24
_MICRO = 1_000_000
# Okabe and Ito's palette: told apart by every kind of colour vision.
_PARTS = (
    ("first attempts", "#0072B2"),
    ("re-expansion", "#E69F00"),
    ("samples", "#56B4E9"),
    ("control runs", "#009E73"),
    ("search", "#CC79A7"),
)
_PRICE = "#D55E00"
FONTS = (
    "DejaVu Sans",
    "Noto Sans CJK KR",
    "Noto Sans KR",
    "NanumGothic",
    "Malgun Gothic",
    "Apple SD Gothic Neo",
    "Noto Sans CJK JP",
    "Noto Sans CJK SC",
)
"""Where letters are looked for, of those that the machine has."""


def check_pictures(path: Path) -> None:
    """Tell whether a picture can be drawn.

    Raises:
        UsageError: it is to be of a kind that is not drawn.
        UnmaskError: matplotlib is not installed.
    """
    if path.suffix.lower() not in KINDS:
        raise UsageError(f"--picture is {str(path)!r}, allowed: a name that ends with {' or '.join(KINDS)}")
    if find_spec("matplotlib") is None:
        raise UnmaskError("pictures need matplotlib: pip install 'unmask[charts]'")


def save_picture(report: Report, path: Path) -> bool:
    """Draw cost by its parts, and the effective unit price now and before.

    Returns:
        Whether every letter could be drawn; an SVG leaves letters to the fonts of whoever looks at it.
    """
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import font_manager
    from matplotlib import pyplot as plt

    lines = _drawn(report)
    there = {font.name for font in font_manager.fontManager.ttflist}
    fonts = [font for font in FONTS if font in there]
    with mpl.rc_context({"font.family": fonts, "svg.fonttype": "none"}), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        figure, (left, right) = plt.subplots(
            1, 2, figsize=(11, 2.4 + 0.32 * len(lines)), width_ratios=(2, 1), layout="constrained"
        )
        _draw_cost(left, lines)
        _draw_price(right, report)
        for axes in (left, right):
            axes.spines[["top", "right"]].set_visible(False)
        try:
            saved(figure, path)
        finally:
            plt.close(figure)
    return path.suffix.lower() == ".svg" or not any("missing from font" in str(one.message) for one in told)


def saved(figure: Any, path: Path) -> None:  # noqa: ANN401 - matplotlib's
    """Write a figure; raise an `UnmaskError` where it cannot be written."""
    try:
        figure.savefig(path, dpi=110)
    except OSError as error:
        raise UnmaskError(f"{path} cannot be written: {error.strerror or error}") from error


def _draw_cost(axes: Any, lines: Sequence[tuple[str, Sequence[int]]]) -> None:  # noqa: ANN401 - matplotlib's
    # By place: two long names may be shortened to the same.
    places = range(len(lines))
    begun = [0.0] * len(lines)
    for column, (label, colour) in enumerate(_PARTS):
        values = [parts[column] / _MICRO for _, parts in lines]
        if any(values):
            axes.barh(places, values, left=begun, color=colour, label=label)
        begun = [before + value for before, value in zip(begun, values, strict=True)]
    axes.set_yticks(places, [name for name, _ in lines])
    axes.set_xlabel("cost")
    axes.locator_params(axis="x", nbins=5)
    _write_plainly(axes.xaxis)
    if any(begun):
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(_PARTS), fontsize=8, frameon=False)


def _draw_price(axes: Any, report: Report) -> None:  # noqa: ANN401 - matplotlib's
    prices = [("before", report.total.before.unit_price), ("now", report.total.now.unit_price)]
    axes.bar([name for name, _ in prices], [(price or 0) / _MICRO for _, price in prices], color=_PRICE, width=0.5)
    for place, (_, price) in enumerate(prices):
        said = "no answer" if price is None else f"{price / _MICRO:,.6f}"
        axes.text(place, (price or 0) / _MICRO, said, ha="center", va="bottom", fontsize=8)
    axes.set_title("all cost ÷ accepted answers", fontsize=9)
    axes.locator_params(axis="y", nbins=4)
    _write_plainly(axes.yaxis)


def _write_plainly(axis: Any) -> None:  # noqa: ANN401 - matplotlib's
    """Write money in full: a power of ten in a corner is overlooked."""
    axis.set_major_formatter(lambda value, _: f"{value:.6f}".rstrip("0").rstrip("."))


def _drawn(report: Report) -> list[tuple[str, Sequence[int]]]:
    """Return lines with the parts of their cost, the costliest on top: bars are drawn from below."""
    lines = sorted(report.lines, key=lambda line: line.now.cost, reverse=True)
    drawn = [(plain_name(line.name), _parts(line.now)) for line in lines[:MOST_LINES]]
    rest = [_parts(line.now) for line in lines[MOST_LINES:]]
    if rest:
        drawn.append((OTHERS, [sum(column) for column in zip(*rest, strict=True)]))
    return drawn[::-1]


def plain_name(text: str) -> str:
    """Return a name in one short row, of which no part is taken for a formula."""
    name = "".join(letter if letter.isprintable() else " " for letter in text)
    short = name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
    return short.replace("$", r"\$")


def _parts(now: Spending) -> Sequence[int]:
    """Return what each of `_PARTS` cost.

    A control run's cost is part of its attempt's, nearly always the first one.
    """
    others = (now.cost_re_expansion, now.cost_verification, now.cost_control, now.cost_search)
    return max(now.cost - sum(others), 0), *others
