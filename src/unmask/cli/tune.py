"""``unmask tune``."""

import argparse
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table

from unmask.cli.exits import Exit, UsageError
from unmask.cli.tools import Tools
from unmask.cli.tuning import run_exit, run_finality, run_replay
from unmask.errors import UnmaskError
from unmask.policy.policy import BucketSteps, BudgetMode, TaskPolicy
from unmask.stats import Interval, IntervalResult, NotEnoughData
from unmask.types import Bucket

if TYPE_CHECKING:
    from unmask.tune.classifier import ClassifierReport, ClassifierRow
    from unmask.tune.item_runs import RunSet
    from unmask.tune.shift import Loss
    from unmask.tune.tuned import TaskTuned

MICRO = 1e6


class TuneMissingError(UnmaskError):
    """Something is to be tuned and what does it is not installed."""

    def __init__(self, module: str) -> None:
        super().__init__(f"{module} is not installed, and tuning needs it: pip install '.[tune]' in a checkout")
        self.args = (module,)


def run_tune(args: argparse.Namespace, tools: Tools) -> int:
    """Run the part of tuning that ``args`` names."""
    parts = {
        "difficulty": _run_difficulty,
        "classifier": _run_classifier,
        "finality": run_finality,
        "exit": run_exit,
        "replay": run_replay,
    }
    try:
        return parts[args.part](args, tools)
    except ModuleNotFoundError as error:
        # Anything else that is missing is a fault of ours.
        if (error.name or "").partition(".")[0] != "sklearn":
            raise
        raise TuneMissingError("scikit-learn") from error


# --- difficulty --------------------------------------------------------------


def _run_difficulty(args: argparse.Namespace, tools: Tools) -> int:
    from unmask.control.estimator_file import write_estimator
    from unmask.tasks.item import Split
    from unmask.tune.cost import median_cost
    from unmask.tune.difficulty import Recipe
    from unmask.tune.item_runs import read_runs
    from unmask.tune.tuned import Splits, tune_all

    splits = Splits(
        tune=read_runs(args.tune, Split.TUNE),
        calibrate=read_runs(args.calibrate, Split.CALIBRATE),
        test=read_runs(args.test, Split.TEST),
    )
    buckets = _buckets(args.buckets, splits.tune)
    entries = _entries(args, splits.tune)
    tuned = tune_all(
        splits,
        entries,
        buckets,
        recipe=Recipe(seed=args.seed),
        done=lambda found: tools.say(f"{found.entry.task}: {_outcome(found)}"),
    )
    estimator = write_estimator(
        args.out,
        model=splits.tune.model,
        model_digest=splits.tune.model_digest,
        tasks={found.entry.task: found.model for found in tuned},
    )
    cost = median_cost(estimator, entries, buckets, seed=args.seed, now=time.perf_counter) * MICRO
    if args.json:
        tools.write_json(
            {
                "model": estimator.model,
                "model_digest": estimator.model_digest,
                "estimator": estimator.digest,
                "seed": args.seed,
                "buckets": {bucket.bucket.value: bucket.max_steps for bucket in buckets},
                "median_cost_us": round(cost, 1),
                "tasks": [_task_record(found) for found in tuned],
            }
        )
    else:
        tools.out.print(_difficulty_table(tuned))
        tools.say(f"Estimator {estimator.digest} is in {args.out}; it takes {cost:.0f} µs a request (median).")
    return Exit.OK if any(found.shift is not None for found in tuned) else Exit.CANNOT_RUN


def _buckets(steps: list[int] | None, runs: "RunSet") -> tuple[BucketSteps, ...]:
    """Return the buckets asked for; unless given, the largest budgets that there are runs of."""
    wanted = steps or sorted({budget for item in runs.items for budget in item.budgets})[-len(Bucket) :]
    if len(wanted) > len(Bucket) or wanted != sorted(set(wanted)):
        raise UsageError(
            f"--buckets {' '.join(map(str, wanted))}: allowed are at most {len(Bucket)} numbers of steps, rising. "
            "Name the smallest first."
        )
    return tuple(BucketSteps(bucket=bucket, max_steps=count) for bucket, count in zip(Bucket, wanted, strict=False))


def _entries(args: argparse.Namespace, runs: "RunSet") -> list[TaskPolicy]:
    """Return what each task type may be given, as the options say or else as far as there are runs."""
    if not 0 < args.alpha < 1:
        raise UsageError(f"--alpha {args.alpha:g}: allowed is a share between 0 and 1, neither included.")
    limits = dict(_limits(text) for text in args.limits)
    unknown = sorted(set(limits) - set(runs.tasks))
    if unknown:
        raise UsageError(
            f"--limits names {', '.join(unknown)}, allowed: {', '.join(runs.tasks)}, which there are runs of."
        )
    entries = []
    for task in runs.tasks:
        budgets = runs.of(task)[0].budgets
        floor, ceiling = limits.get(task, (budgets[0], budgets[-1]))
        entries.append(
            TaskPolicy(
                task=task,
                mode=BudgetMode.ADAPTIVE,
                floor=floor,
                default=ceiling,
                ceiling=ceiling,
                strategy=None,
                exit=None,
                alpha=args.alpha,
                shift=0.0,
            )
        )
    return entries


def _limits(text: str) -> tuple[str, tuple[int, int]]:
    task, _, ends = text.partition("=")
    floor, _, ceiling = ends.partition(":")
    if not (task and floor.isdecimal() and ceiling.isdecimal() and 1 <= int(floor) <= int(ceiling)):
        raise UsageError(f"--limits {text[:80]}: allowed is TASK=FLOOR:CEILING, in steps from 1 up, as in sort=1:16.")
    return task, (int(floor), int(ceiling))


def _outcome(found: "TaskTuned") -> str:
    match found.calibration:
        case NotEnoughData(reason=reason):
            return f"not enough data ({reason}); it stays at its ceiling of {found.entry.ceiling} steps"
        case calibrated:
            return f"shift {calibrated.taken.shift:g}, loss at most {calibrated.taken.upper:.2%}"


def _difficulty_table(tuned: Sequence["TaskTuned"]) -> Table:
    table = Table(caption="loss: wrong at the bucket given though right at the ceiling; 95 % intervals, test split")
    for name in ("task", "items", "never right", "shift", "calibrated loss ≤", "loss", "mean steps", "saved"):
        table.add_column(name)
    for found in tuned:
        if found.realised is None or isinstance(found.calibration, NotEnoughData):
            table.add_row(found.entry.task, str(found.trained.n), "", "ceiling", "", "", "", "")
            continue
        realised, taken = found.realised, found.calibration.taken
        table.add_row(
            found.entry.task,
            str(realised.n),
            str(realised.never_right),
            f"{taken.shift:g}",
            f"{taken.upper:.2%}",
            _shown(realised.loss, 100, "%"),
            _shown(realised.steps),
            _shown(realised.saved),
        )
    return table


def _task_record(found: "TaskTuned") -> dict[str, object]:
    trained, realised = found.trained, found.realised
    return {
        "task": found.entry.task,
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


def _calibration_record(found: "TaskTuned") -> dict[str, object]:
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


def _loss_record(loss: "Loss") -> dict[str, object]:
    return {"shift": loss.shift, "right": loss.right, "lost": loss.lost, "upper": loss.upper}


# --- classifier --------------------------------------------------------------


def _run_classifier(args: argparse.Namespace, tools: Tools) -> int:
    from unmask.control.classify import write_reliability
    from unmask.tune.classifier import measure_classifier

    report = measure_classifier(items=args.items, seed=args.seed)
    if args.out is not None:
        write_reliability(args.out, dict(report.reliability), seed=report.seed, items=report.items)
    if args.json:
        tools.write_json(
            {
                "seed": report.seed,
                "items": report.items,
                "rows": [_row_record(row) for row in report.rows],
                "reliability": {
                    task: {"recognised": found.recognised, "right": found.right, "confidence": found.confidence}
                    for task, found in report.reliability
                },
            }
        )
        return Exit.OK
    tools.out.print(_classifier_table(report))
    for task, found in report.reliability:
        tools.say(f"{task}: right {found.right} of the {found.recognised} times it was said")
    return Exit.OK


def _classifier_table(report: "ClassifierReport") -> Table:
    table = Table(caption="open: left at `default`, which costs steps only; wrong: another task type; 95 % intervals")
    for name in ("prompts", "task", "n", "right", "open", "wrong"):
        table.add_column(name)
    for row in report.rows:
        table.add_row(
            row.population.value,
            row.truth,
            str(row.n),
            _shown(row.recall, 100, "%"),
            f"{row.open / row.n:.1%}",
            _shown(row.error, 100, "%"),
        )
    return table


def _row_record(row: "ClassifierRow") -> dict[str, object]:
    return {
        "population": row.population.value,
        "task": row.truth,
        "n": row.n,
        "right": row.right,
        "open": row.open,
        "wrong": row.wrong,
        "error": _record(row.error),
    }


def _shown(result: IntervalResult, scale: float = 1.0, unit: str = "") -> str:
    match result:
        case NotEnoughData():
            return "not enough data"
        case Interval():
            return f"{result.estimate * scale:.2f}{unit} ({result.low * scale:.2f} to {result.high * scale:.2f})"


def _record(result: IntervalResult) -> dict[str, object]:
    match result:
        case NotEnoughData(n=n, reason=reason):
            return {"n": n, "not_enough_data": reason}
        case Interval():
            return {"estimate": result.estimate, "low": result.low, "high": result.high}
