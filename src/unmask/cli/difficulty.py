"""``unmask tune difficulty``."""

import argparse
import time
from collections.abc import Sequence
from dataclasses import replace

from rich.table import Table

from unmask.backend import ModelInfo
from unmask.cli.exits import Exit, UsageError
from unmask.cli.intervals import shown
from unmask.cli.loaded import model_named
from unmask.cli.policy_store import named_policy, store_of
from unmask.cli.proposing import curves_at
from unmask.cli.tools import Tools
from unmask.policy.policy import BucketSteps, TaskPolicy
from unmask.stats import NotEnoughData
from unmask.text.tokenizer import packaged_tokenizer
from unmask.tune.difficulty_file import write_difficulty
from unmask.tune.difficulty_run import DifficultyPlan, difficulty_report, plan_for, planned, tune_difficulty
from unmask.tune.item_runs import runs_from
from unmask.tune.tuned import Splits, TaskTuned
from unmask.types import Bucket

MICRO = 1e6


def run_difficulty(args: argparse.Namespace, tools: Tools) -> int:
    """Train an estimator on curves, find how far budgets may fall, and keep both in one file."""
    curves = {split: curves_at(getattr(args, split)) for split in ("tune", "calibrate", "test")}
    model = model_named(curves["tune"].settings.model, tools)
    count_tokens = packaged_tokenizer().chat_length
    for found in curves.values():
        found.check_model(model.name, model.digest)
    splits = Splits(
        **{split: runs_from(found, count_tokens, model.default_max_tokens) for split, found in curves.items()}
    )
    base = planned(curves["tune"], model) if args.policy is None else _policys(args, splits, model)
    done = tune_difficulty(
        splits,
        _changed(base, args),
        seed=args.seed,
        now=time.perf_counter,
        done=lambda found: tools.say(f"{found.entry.task}: {outcome(found)}"),
    )
    report = difficulty_report(done)
    write_difficulty(args.out, report, done.part)
    if args.json:
        tools.write_json(report)
    else:
        tools.out.print(difficulty_table(done.tuned))
        cost = done.median_cost_s * MICRO
        tools.say(f"Estimator {done.estimator.digest} is in {args.out}; it takes {cost:.0f} µs a request (median).")
    return Exit.OK if any(found.shift is not None for found in done.tuned) else Exit.CANNOT_RUN


def _policys(args: argparse.Namespace, splits: Splits, model: ModelInfo) -> DifficultyPlan:
    policy = named_policy(store_of(args), args.policy)
    if policy.model_digest != model.digest:
        raise UsageError(
            f"--policy {args.policy}: it is of weights {policy.model_digest}, allowed: {model.digest}, like the curves"
        )
    return plan_for(policy, splits.tune)


def _changed(plan: DifficultyPlan, args: argparse.Namespace) -> DifficultyPlan:
    """Return a plan with what the options say in place of the policy's."""
    limits = dict(_limits(text) for text in args.limits)
    tasks = [entry.task for entry in plan.entries]
    unknown = sorted(set(limits) - set(tasks))
    if unknown:
        raise UsageError(
            f"--limits names {', '.join(unknown)}, allowed: {', '.join(tasks)}, which there are curves of."
        )
    if args.alpha is not None and not 0 < args.alpha < 1:
        raise UsageError(f"--alpha {args.alpha:g}: allowed is a share between 0 and 1, neither included.")
    return DifficultyPlan(
        buckets=plan.buckets if args.buckets is None else _buckets(args.buckets),
        entries=tuple(_limited(entry, limits.get(entry.task), args.alpha) for entry in plan.entries),
    )


def _limited(entry: TaskPolicy, ends: tuple[int, int] | None, alpha: float | None) -> TaskPolicy:
    changed = entry if alpha is None else replace(entry, alpha=alpha)
    return changed if ends is None else replace(changed, floor=ends[0], default=ends[1], ceiling=ends[1])


def _buckets(wanted: list[int]) -> tuple[BucketSteps, ...]:
    if len(wanted) > len(Bucket) or wanted != sorted(set(wanted)):
        raise UsageError(
            f"--buckets {' '.join(map(str, wanted))}: allowed are at most {len(Bucket)} numbers of steps, rising. "
            "Name the smallest first."
        )
    return tuple(BucketSteps(bucket=bucket, max_steps=count) for bucket, count in zip(Bucket, wanted, strict=False))


def _limits(text: str) -> tuple[str, tuple[int, int]]:
    task, _, ends = text.partition("=")
    floor, _, ceiling = ends.partition(":")
    if not (task and floor.isdecimal() and ceiling.isdecimal() and 1 <= int(floor) <= int(ceiling)):
        raise UsageError(f"--limits {text[:80]}: allowed is TASK=FLOOR:CEILING, in steps from 1 up, as in sort=1:16.")
    return task, (int(floor), int(ceiling))


def outcome(found: TaskTuned) -> str:
    """Say what became of a task type."""
    match found.calibration:
        case NotEnoughData(reason=reason):
            return f"not enough data ({reason}); it stays at its ceiling of {found.entry.ceiling} steps"
        case calibrated:
            return f"shift {calibrated.taken.shift:g}, loss at most {calibrated.taken.upper:.2%}"


def difficulty_table(tuned: Sequence[TaskTuned]) -> Table:
    """Return a line a task type."""
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
            shown(realised.loss, 100, "%"),
            shown(realised.steps),
            shown(realised.saved),
        )
    return table
