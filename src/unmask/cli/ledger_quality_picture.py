"""The picture of cost and quality by model and task type."""

import warnings
from pathlib import Path
from typing import Any

from unmask.cli.ledger_picture import FONTS, plain_name, saved
from unmask.cli.ledger_quality import CostAndQuality
from unmask.ledger.quality import ScenarioLine
from unmask.ledger.report_text import MICRO
from unmask.stats import Interval, IntervalResult

MOST_LINES = 20
"""The costliest lines are drawn."""
_COST, _PASSED, _WRONG = "#0072B2", "#009E73", "#D55E00"


def save_quality_picture(found: CostAndQuality, path: Path) -> bool:
    """Draw for each model and task type what a request costs, beside how good its answers are.

    Returns:
        Whether every letter could be drawn; an SVG leaves letters to the fonts of whoever looks at it.
    """
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import font_manager
    from matplotlib import pyplot as plt

    lines = sorted(found.report.lines, key=lambda line: line.spending.cost)[-MOST_LINES:]
    there = {font.name for font in font_manager.fontManager.ttflist}
    fonts = [font for font in FONTS if font in there]
    with mpl.rc_context({"font.family": fonts, "svg.fonttype": "none"}), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        figure, (left, right) = plt.subplots(
            1, 2, figsize=(11, 2.4 + 0.32 * len(lines)), sharey=True, layout="constrained"
        )
        costs = [line.spending.cost / line.spending.requests / MICRO for line in lines]
        left.barh(range(len(lines)), costs, color=_COST)
        left.set_yticks(range(len(lines)), [plain_name(f"{line.model} {line.task}") for line in lines])
        left.set_xlabel("cost of a request")
        _draw_quality(right, lines, found)
        try:
            saved(figure, path)
        finally:
            plt.close(figure)
    return path.suffix.lower() == ".svg" or not any("missing from font" in str(one.message) for one in told)


def _draw_quality(axes: Any, lines: list[ScenarioLine], found: CostAndQuality) -> None:  # noqa: ANN401 - matplotlib's
    for place, line in enumerate(lines):
        _draw_interval(axes, place + 0.12, line.verified.pass_rate, _PASSED)
        _draw_interval(axes, place - 0.12, found.wrong(line), _WRONG)
    axes.plot([], [], "o", color=_PASSED, label="passed their verifiers")
    axes.plot([], [], "o", color=_WRONG, label="exits wrong, by control runs")
    axes.set_xlim(-0.02, 1.02)
    axes.set_xlabel("share, 95 %")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, fontsize=8, frameon=False)


def _draw_interval(axes: Any, place: float, found: IntervalResult, colour: str) -> None:  # noqa: ANN401 - matplotlib's
    if isinstance(found, Interval):
        ends = [[found.estimate - found.low], [found.high - found.estimate]]
        axes.errorbar([found.estimate], [place], xerr=ends, fmt="o", color=colour, capsize=3)
