"""One picture a task type: what each setting saves, and what it costs in right answers and in misjudged exits."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from unmask.tune.errors import ExitRunError
from unmask.tune.exit_file import ExitSet
from unmask.tune.exits import MeasuredSetting, TunedExit
from unmask.tune.picture import BLUE, GREEN, GREY, ORANGE, RED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Height = Callable[[MeasuredSetting], tuple[float, float]]
"""From where to where the line of a setting goes; its mark is at the lower end."""


def save_exit_picture(found: TunedExit, exits: ExitSet, path: Path) -> None:
    """Draw saving against misjudgement as SVG; see `unmask.tune.picture.check_pictures`.

    Raises:
        ExitRunError: it cannot be written.
    """
    import matplotlib as mpl  # noqa: PLC0415 - an extra
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra

    figure = Figure(figsize=(11.0, 4.6), layout="constrained")
    left, right, beside = figure.subplots(1, 3, width_ratios=(4, 4, 3))
    _draw(left, found, _lost, rules_only=False)
    _draw(right, found, _misjudged, rules_only=True)
    _list(beside, found)
    left.set_ylabel("right at the ceiling, wrong here (share of items)")
    right.set_ylabel("misjudged share of exits (line up to its bound)")
    limit = exits.search.misjudgement_limit
    right.axhline(limit, color=RED, linewidth=1, linestyle="--")
    right.set_ylim(top=max(right.get_ylim()[1], 1.2 * limit))
    right.annotate(f"limit {limit:.1%}", (0.01, limit), xycoords=("axes fraction", "data"), color=RED, fontsize=8)
    figure.suptitle(_headline(found), x=0.01, ha="left", fontsize=12, fontweight="bold")
    figure.supxlabel(
        f"steps saved against {found.ceiling} steps; {exits.model} {exits.model_digest}, {exits.search.items} items of "
        f"the tuning split, {exits.origin.date[:10]}",
        fontsize=7,
        color=GREY,
    )
    try:
        # Equal runs draw equal files.
        with mpl.rc_context({"svg.hashsalt": found.task}):
            figure.savefig(path, format="svg", metadata={"Date": None})
    except OSError as error:
        raise ExitRunError(f"cannot write the picture {str(path)!r}: {error}; free some space") from error


def _headline(found: TunedExit) -> str:
    if found.tested is None:
        return f"{found.task}: nothing saves steps within the limits"
    saved = 1 - found.tested.mean_steps / max(found.tested.reference_steps, 1e-9)
    state = "exit enabled" if found.exit.enabled else "exit observes"
    return f"{found.task}: {saved:.0%} fewer steps on other items, {state}"


def _lost(one: MeasuredSetting) -> tuple[float, float]:
    share = one.figures.lost / one.figures.items
    return share, share


def _misjudged(one: MeasuredSetting) -> tuple[float, float]:
    return one.figures.misjudged / max(one.figures.exits, 1), one.figures.bound


def _draw(axes: "Axes", found: TunedExit, height: Height, *, rules_only: bool) -> None:
    for number, one in enumerate(found.measured, start=1):
        if rules_only and one.setting.rule is None:
            continue
        saved = 1 - one.figures.mean_steps / max(one.figures.reference_steps, 1e-9)
        low, high = height(one)
        colour = _colour(one, found)
        marker = "*" if one.setting == found.chosen else "o" if one.setting.rule is None else "^"
        axes.plot((saved, saved), (low, high), color=colour, linewidth=1, alpha=0.5)
        axes.plot([saved], [low], marker, color=colour, markersize=12 if marker == "*" else 6)
        axes.annotate(
            str(number), (saved, low), xytext=(0, 6), textcoords="offset points", fontsize=7, color=colour, ha="center"
        )
    axes.set_ylim(bottom=-0.002)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda value, _: f"{100 * value:.3g}%" if value >= 0 else "")
    axes.grid(visible=True, color="#e5e5e5", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)


def _list(axes: "Axes", found: TunedExit) -> None:
    """Name the numbered settings: in a plot their names would lie on one another."""
    axes.set_axis_off()
    for number, one in enumerate(found.measured, start=1):
        axes.text(0, 1 - number / 14, f"{number}  {one.setting.short}", fontsize=8, color=_colour(one, found))


def _colour(one: MeasuredSetting, found: TunedExit) -> str:
    if one.setting == found.chosen:
        return GREEN
    return BLUE if one.setting.rule is None else ORANGE
