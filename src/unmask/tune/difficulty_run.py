"""Difficulty tuned for the budgets of a policy, from curves of the three splits, and what is reported of it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from unmask.backend import ModelInfo
from unmask.control.difficulty import Estimator
from unmask.control.estimator_file import estimator_content, parse_estimator
from unmask.policy.convert import raw_strategy
from unmask.policy.policy import DEFAULT_TASK, BucketSteps, BudgetMode, Policy, TaskPolicy
from unmask.stats import Interval, IntervalResult, NotEnoughData
from unmask.strategy import StrategyChoice
from unmask.tune.cost import median_cost
from unmask.tune.curve import CurveSet
from unmask.tune.difficulty import Recipe
from unmask.tune.item_runs import RunsError, RunSet
from unmask.tune.propose import propose
from unmask.tune.shift import Loss
from unmask.tune.start import Start
from unmask.tune.task_strategy import strategy_name
from unmask.tune.tuned import Splits, TaskTuned, tune_all

MICRO = 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class DifficultyPlan:
    """The budgets that an estimator is to deal out: a policy's buckets, and its entry of each task type."""

    buckets: tuple[BucketSteps, ...]
    entries: tuple[TaskPolicy, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DifficultyRun:
    """A tuned estimator, with all that was measured of it.

    Attributes:
        part: the estimator's file.
        median_cost_s: seconds from a conversation to its bucket.
    """

    splits: Splits
    plan: DifficultyPlan
    seed: int
    tuned: tuple[TaskTuned, ...]
    estimator: Estimator
    part: bytes
    median_cost_s: float


def planned(curves: CurveSet, model: ModelInfo, start: Start | None = None) -> DifficultyPlan:
    """Return the budgets that the curves themselves propose, so that shifts hold for that proposal.

    Raises:
        SplitError, ForeignCurvesError: as `propose`.
    """
    return _plan(propose(curves, model, (), start=start).policy)


def plan_for(policy: Policy, runs: RunSet) -> DifficultyPlan:
    """Return the budgets of a policy, for the task types that there are runs of.

    Raises:
        RunsError: it has no entry for one of them, or another strategy than the runs.
    """
    plan = _plan(policy)
    by_task = {entry.task: entry for entry in plan.entries}
    for task in runs.tasks:
        if task not in by_task:
            raise RunsError(f"There are runs of {task}, allowed: {', '.join(by_task) or 'none'}. Give it a policy.")
        wanted = by_task[task].strategy or StrategyChoice()
        if wanted != runs.strategy_of(task):
            raise RunsError(
                f"The policy has {task} run with {strategy_name(wanted)}, and its curve is of "
                f"{strategy_name(runs.strategy_of(task))}: an estimator is for one strategy a task type. Measure "
                "curves with the policy's."
            )
    return DifficultyPlan(buckets=plan.buckets, entries=tuple(by_task[task] for task in runs.tasks))


def tune_difficulty(
    splits: Splits,
    plan: DifficultyPlan,
    *,
    seed: int,
    now: Callable[[], float],
    done: Callable[[TaskTuned], None] = lambda _: None,
) -> DifficultyRun:
    """Train, calibrate and test an estimator; ``done`` is told of each task type.

    Raises:
        RunsError: a task type was not run at a budget that may be given.
    """
    tuned = tune_all(splits, plan.entries, plan.buckets, recipe=Recipe(seed=seed), done=done)
    tasks = {found.entry.task: found.model for found in tuned}
    runs = splits.tune
    part = estimator_content(model=runs.model, model_digest=runs.model_digest, tasks=tasks)
    estimator = parse_estimator(Path("estimator"), part)
    return DifficultyRun(
        splits=splits,
        plan=plan,
        seed=seed,
        tuned=tuned,
        estimator=estimator,
        part=part,
        median_cost_s=median_cost(estimator, plan.entries, plan.buckets, seed=seed, now=now),
    )


def difficulty_report(run: DifficultyRun) -> dict[str, object]:
    """Return all that was measured, as JSON."""
    runs = run.splits.tune
    return {
        "model": runs.model,
        "model_digest": runs.model_digest,
        "estimator": run.estimator.digest,
        "canvas_length": runs.canvas_length,
        "seed": run.seed,
        "buckets": {bucket.bucket.value: bucket.max_steps for bucket in run.plan.buckets},
        "median_cost_us": round(run.median_cost_s * MICRO, 1),
        "tasks": [_task_record(found, runs.strategy_of(found.entry.task)) for found in run.tuned],
    }


def _plan(policy: Policy) -> DifficultyPlan:
    return DifficultyPlan(
        buckets=policy.buckets,
        entries=tuple(
            replace(entry, mode=BudgetMode.ADAPTIVE, shift=0.0) for entry in policy.tasks if entry.task != DEFAULT_TASK
        ),
    )


def _task_record(found: TaskTuned, strategy: StrategyChoice) -> dict[str, object]:
    trained, realised = found.trained, found.realised
    return {
        "task": found.entry.task,
        "strategy": raw_strategy(strategy),
        "floor": found.entry.floor,
        "ceiling": found.entry.ceiling,
        "alpha": found.entry.alpha,
        "shift": found.shift,
        "tuning": {
            "n": trained.n,
            "never_right": trained.never_right,
            "quantile": trained.chosen,
            "candidates": [{"quantile": c.quantile, "mean_steps": c.mean_steps} for c in trained.candidates],
        },
        "calibration": _calibration_record(found),
        "test": realised
        and {
            "n": realised.n,
            "never_right": realised.never_right,
            "lost": realised.lost,
            "loss": _record(realised.loss),
            "mean_steps": _record(realised.steps),
            "steps_saved": _record(realised.saved),
        },
    }


def _calibration_record(found: TaskTuned) -> dict[str, object]:
    match found.calibration:
        case NotEnoughData(n=n, reason=reason):
            return {"n": n, "not_enough_data": reason}
        case calibrated:
            return {
                "n": calibrated.n,
                "never_right": calibrated.never_right,
                "taken": _loss_record(calibrated.taken),
                "refused": calibrated.refused and _loss_record(calibrated.refused),
            }


def _loss_record(loss: Loss) -> dict[str, object]:
    return {"shift": loss.shift, "right": loss.right, "lost": loss.lost, "upper": loss.upper}


def _record(result: IntervalResult) -> dict[str, object]:
    match result:
        case NotEnoughData(n=n, reason=reason):
            return {"n": n, "not_enough_data": reason}
        case Interval():
            return {"estimate": result.estimate, "low": result.low, "high": result.high}
