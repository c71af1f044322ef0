"""The picture of a ledger's report."""

from importlib.util import find_spec
from pathlib import Path

from unmask.cli.exits import UsageError
from unmask.errors import UnmaskError
from unmask.ledger.report import Line, Report

KINDS = (".png", ".svg")
MOST_LINES = 20
"""The costliest lines are drawn; the rest are one bar together."""
OTHERS = "others"
_MICRO = 1_000_000
# Okabe and Ito's palette: told apart by every kind of colour vision.
_REST, _RE_EXPANSION, _CONTROL, _SEARCH, _PRICE = "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00"


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


def save_picture(report: Report, path: Path) -> None:
    """Draw cost by its parts, and the effective unit price now and before."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    lines = _drawn(report)
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 1.6 + 0.32 * len(lines)), layout="constrained")
    names = [name for name, _ in lines]
    begun = [0.0] * len(lines)
    for label, colour, column in (
        ("first attempts", _REST, 0),
        ("re-expansion", _RE_EXPANSION, 1),
        ("control runs", _CONTROL, 2),
        ("search", _SEARCH, 3),
    ):
        values = [parts[column] / _MICRO for _, parts in lines]
        left.barh(names, values, left=begun, color=colour, label=label)
        begun = [before + value for before, value in zip(begun, values, strict=True)]
    left.set_xlabel("cost")
    left.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4, fontsize=8, frameon=False)
    prices = [("before", report.total.before.unit_price), ("now", report.total.now.unit_price)]
    known = [(name, price / _MICRO) for name, price in prices if price is not None]
    right.bar([name for name, _ in known], [price for _, price in known], color=_PRICE, width=0.5)
    right.set_ylabel("effective unit price: all cost ÷ accepted answers")
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    try:
        figure.savefig(path, dpi=110)
    except OSError as error:
        raise UnmaskError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        plt.close(figure)


def _drawn(report: Report) -> list[tuple[str, tuple[int, int, int, int]]]:
    """Return lines with the parts of their cost, the costliest on top: bars are drawn from below."""
    lines = sorted(report.lines, key=lambda line: line.now.cost, reverse=True)
    drawn = [(line.name, _parts(line)) for line in lines[:MOST_LINES]]
    rest = [_parts(line) for line in lines[MOST_LINES:]]
    if rest:
        first, again, control, search = (sum(column) for column in zip(*rest, strict=True))
        drawn.append((OTHERS, (first, again, control, search)))
    return drawn[::-1]


def _parts(line: Line) -> tuple[int, int, int, int]:
    """Return what first attempts, re-expansion, control runs and searches cost.

    A control run's cost is part of its attempt's, nearly always the first one.
    """
    now = line.now
    first = max(now.cost - now.cost_re_expansion - now.cost_control - now.cost_search, 0)
    return first, now.cost_re_expansion, now.cost_control, now.cost_search
