"""Adaptive or fixed: what each would give, per task type, from the measured spread."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from unmask.policy.policy import BudgetMode
from unmask.stats import (
    Interval,
    IntervalResult,
    NotEnoughData,
    bootstrap_mean,
    paired_difference,
    percentile_interval,
    wilson,
)
from unmask.tasks.item import Split
from unmask.tune.arms import Arm, replay
from unmask.tune.curve import Curve, CurveSet
from unmask.tune.landmarks import MIN_ITEMS
from unmask.tune.shown import interval_json, interval_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What has to hold for a budget by difficulty.

    Attributes:
        least_saving: least share of the fixed arm's mean steps that it must surely save: less does not pay for an
            estimator that has to be kept.
        most_loss: most quality that it may cost, by the unfavourable end of the interval.
    """

    least_saving: float = 0.10
    most_loss: float = 0.03


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmFigures:
    """What one way of giving budgets gives a task type, each with its 95 % interval.

    Attributes:
        steps: mean denoise steps a request; ``p99_steps`` what 99 in 100 stay within: its upper end can be promised.
        p50: seconds; ``p99`` likewise.
        spread: mean distance of a request's seconds from their median.
        worst_bin: share of right answers in the bin of difficulty where it is lowest.
    """

    steps: IntervalResult
    p99_steps: IntervalResult
    p50: IntervalResult
    p99: IntervalResult
    spread: IntervalResult
    worst_bin: IntervalResult


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskAdvice:
    """Advice on one task type.

    Attributes:
        mode: adaptive where it surely saves enough and surely costs little, else fixed.
        saved: mean steps that adaptive saves a request; ``quality`` what it costs (negative) or gains.
    """

    task: str
    items: int
    mode: BudgetMode
    reason: str
    fixed: ArmFigures
    adaptive: ArmFigures
    saved: IntervalResult
    quality: IntervalResult


@dataclass(frozen=True, slots=True, kw_only=True)
class NoAdvice:
    """Too little was measured to tell."""

    task: str
    lacking: NotEnoughData


Advice: TypeAlias = TaskAdvice | NoAdvice


def advise(curves: CurveSet, limits: Limits | None = None) -> tuple[Advice, ...]:
    """Return advice on every task type of a run; resampling takes the run's seed.

    Raises:
        SplitError: the curves are not of the tuning split, which alone budgets are chosen on.
    """
    curves.check_split(Split.TUNE)
    return tuple(_advise(curve, curves.settings.seed, limits or Limits()) for curve in curves.curves)


def _advise(curve: Curve, seed: int, limits: Limits) -> Advice:
    count = len(curve.items)
    if count < MIN_ITEMS:
        lacking = NotEnoughData(n=count, reason=f"{count} items, at least {MIN_ITEMS} needed")
        return NoAdvice(task=curve.task, lacking=lacking)
    arms = replay(curve, seed)
    most = float(curve.steps.max())
    saved = paired_difference(arms.fixed.steps, arms.adaptive.steps, seed, bounds=(-most, most))
    quality = paired_difference(arms.adaptive.correct, arms.fixed.correct, seed, bounds=(-1.0, 1.0))
    mode, reason = _choose(saved, quality, float(arms.fixed.steps.mean()), limits)
    return TaskAdvice(
        task=curve.task,
        items=count,
        mode=mode,
        reason=reason,
        fixed=_figures(arms.fixed, arms.bins, seed, most),
        adaptive=_figures(arms.adaptive, arms.bins, seed, most),
        saved=saved,
        quality=quality,
    )


def _choose(saved: IntervalResult, quality: IntervalResult, mean: float, limits: Limits) -> tuple[BudgetMode, str]:
    if not isinstance(saved, Interval) or not isinstance(quality, Interval):
        return BudgetMode.FIXED, "not enough data to tell that adaptive is better"
    if quality.low < -limits.most_loss:
        return BudgetMode.FIXED, f"adaptive may cost more than {limits.most_loss:.0%} quality"
    if saved.low < limits.least_saving * mean:
        return BudgetMode.FIXED, f"adaptive does not surely save {limits.least_saving:.0%} of the steps"
    return BudgetMode.ADAPTIVE, f"saves {saved.low / mean:.0%} of the steps or more"


def _figures(arm: Arm, bins: NDArray[np.int64], seed: int, most: float) -> ArmFigures:
    distance = np.abs(arm.seconds - np.median(arm.seconds))
    right = [(int(arm.correct[bins == number].sum()), int((bins == number).sum())) for number in np.unique(bins)]
    return ArmFigures(
        steps=bootstrap_mean(arm.steps, seed, bounds=(0.0, most)),
        p99_steps=percentile_interval(arm.steps, 0.99),
        p50=percentile_interval(arm.seconds, 0.5),
        p99=percentile_interval(arm.seconds, 0.99),
        spread=bootstrap_mean(distance, seed),
        worst_bin=wilson(*min(right, key=lambda pair: pair[0] / pair[1])),
    )


def advice_table(advice: Iterable[Advice]) -> Table:
    """Return two lines a task type, one a way of giving budgets, and what is advised."""
    table = Table(title="fixed or adaptive (95 % intervals)")
    for heading in (
        "task type",
        "budget",
        "steps",
        "p99 steps",
        "p50 s",
        "p99 s",
        "spread s",
        "worst bin right",
        "advice",
    ):
        table.add_column(heading)
    for entry in advice:
        match entry:
            case NoAdvice():
                table.add_row(entry.task, *[""] * 7, f"not enough data: {entry.lacking.reason}")
            case TaskAdvice():
                for name, arm in ((BudgetMode.FIXED, entry.fixed), (BudgetMode.ADAPTIVE, entry.adaptive)):
                    told = f"{entry.mode}: {entry.reason}" if name is entry.mode else ""
                    table.add_row(entry.task if name is BudgetMode.FIXED else "", name, *_cells(arm), told)
    return table


def _cells(arm: ArmFigures) -> tuple[str, ...]:
    values = (arm.steps, arm.p99_steps, arm.p50, arm.p99, arm.spread)
    return (*map(interval_text, values), interval_text(arm.worst_bin, percent=True))


def advice_json(advice: Iterable[Advice]) -> list[dict[str, object]]:
    """Return advice as JSON."""
    return [_json(entry) for entry in advice]


def _json(entry: Advice) -> dict[str, object]:
    if isinstance(entry, NoAdvice):
        return {"task": entry.task, "mode": None, "not_enough_data": entry.lacking.reason, "n": entry.lacking.n}
    return {
        "task": entry.task,
        "items": entry.items,
        "mode": entry.mode,
        "reason": entry.reason,
        "steps_saved": interval_json(entry.saved),
        "quality_difference": interval_json(entry.quality),
        "fixed": _arm_json(entry.fixed),
        "adaptive": _arm_json(entry.adaptive),
    }


def _arm_json(arm: ArmFigures) -> dict[str, object]:
    return {
        "steps": interval_json(arm.steps),
        "p99_steps": interval_json(arm.p99_steps),
        "p50_s": interval_json(arm.p50),
        "p99_s": interval_json(arm.p99),
        "spread_s": interval_json(arm.spread),
        "worst_bin_quality": interval_json(arm.worst_bin),
    }
