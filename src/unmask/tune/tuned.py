"""A difficulty estimator from end to end: trained, calibrated and tested, each on items of its own split."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from unmask.control.difficulty import TaskModel
from unmask.policy.policy import BucketSteps, TaskPolicy
from unmask.stats import IntervalResult, bootstrap_mean, paired_difference, wilson
from unmask.tasks.item import Split
from unmask.tune.difficulty import Recipe, Trained, train_task
from unmask.tune.errors import SplitError
from unmask.tune.item_runs import ItemRuns, RunsError, RunSet
from unmask.tune.shift import LEAST_ITEMS, Calibrated, Calibration, calibrate, check_grid, runs_at
from unmask.tune.task_strategy import strategy_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Realised:
    """What the calibrated budgets do on the test split.

    Attributes:
        n: items.
        never_right: those of them that are wrong at the ceiling; in no loss, and in the steps like all others.
        lost: items wrong at their bucket though right at the ceiling.
        loss: share of them among those right at the ceiling (Wilson, 95 %).
        steps: mean steps at the buckets given.
        saved: how many fewer on average than at the ceiling, item by item.
    """

    n: int
    never_right: int
    lost: int
    loss: IntervalResult
    steps: IntervalResult
    saved: IntervalResult


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskTuned:
    """One task type: its model, its shift, and what both are worth.

    Attributes:
        realised: ``None`` where there was not enough data for a shift; the task type stays at its ceiling.
    """

    entry: TaskPolicy
    trained: Trained
    calibration: Calibration
    realised: Realised | None

    @property
    def model(self) -> TaskModel:
        """The model of the task type."""
        return self.trained.model

    @property
    def shift(self) -> float | None:
        """What its policy adds to a score; nothing where it stays at its ceiling."""
        return self.calibration.taken.shift if isinstance(self.calibration, Calibrated) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Splits:
    """Runs of the three splits, on one model.

    Raises:
        SplitError: runs are of another split than the one they are given for.
        RunsError: they are of different models, strategies or canvas lengths.
    """

    tune: RunSet
    calibrate: RunSet
    test: RunSet

    def __post_init__(self) -> None:
        wanted = ((self.tune, Split.TUNE), (self.calibrate, Split.CALIBRATE), (self.test, Split.TEST))
        for runs, split in wanted:
            if runs.split is not split:
                raise SplitError(f"These are runs of the split {runs.split}, allowed: {split}.")
            for name, found, allowed in (
                ("model", runs.model_digest, self.tune.model_digest),
                ("strategies", _strategies(runs, self.tune.tasks), _strategies(self.tune, self.tune.tasks)),
                ("canvas length", runs.canvas_length, self.tune.canvas_length),
            ):
                if found != allowed:
                    raise RunsError(
                        f"Runs of the split {split} are of the {name} {found}, allowed: {allowed}, as those of the "
                        "tuning split. Run all three alike."
                    )


def _strategies(runs: RunSet, tasks: Sequence[str]) -> str:
    return ", ".join(f"{strategy_name(runs.strategy_of(task))} for {task}" for task in tasks)


def tune_all(
    splits: Splits,
    entries: Sequence[TaskPolicy],
    buckets: tuple[BucketSteps, ...],
    *,
    recipe: Recipe,
    least_items: int = LEAST_ITEMS,
    done: Callable[[TaskTuned], None] = lambda _: None,
) -> tuple[TaskTuned, ...]:
    """Tune every task type that has tuning items; ``done`` is told of each.

    Raises:
        RunsError: a task type has no entry, or was not run at a budget that may be given.
    """
    by_task = {entry.task: entry for entry in entries}
    tuned: list[TaskTuned] = []
    for task in splits.tune.tasks:
        if task not in by_task:
            raise RunsError(f"There are runs of {task}, allowed: {', '.join(by_task) or 'none'}. Give it a policy.")
        found = tune_task(splits, by_task[task], buckets, recipe=recipe, least_items=least_items)
        done(found)
        tuned.append(found)
    return tuple(tuned)


def tune_task(
    splits: Splits, entry: TaskPolicy, buckets: tuple[BucketSteps, ...], *, recipe: Recipe, least_items: int
) -> TaskTuned:
    """Tune one task type: train on the tuning split, find the shift on the calibration split, look once at the test."""
    trained = train_task(splits.tune.of(entry.task), entry, buckets, recipe)
    calibration = calibrate(splits.calibrate.of(entry.task), trained.model, entry, buckets, least_items=least_items)
    realised = None
    if isinstance(calibration, Calibrated):
        test = splits.test.of(entry.task)
        realised = realise(test, trained.model, entry, buckets, shift=calibration.taken.shift, seed=recipe.seed)
    return TaskTuned(entry=entry, trained=trained, calibration=calibration, realised=realised)


def realise(
    items: Sequence[ItemRuns],
    model: TaskModel,
    entry: TaskPolicy,
    buckets: tuple[BucketSteps, ...],
    *,
    shift: float,
    seed: int,
) -> Realised:
    """Measure a shift on items.

    Raises:
        RunsError: a budget that may be given is none that the items were run at.
    """
    check_grid(items, entry, buckets)
    full = [item.at(entry.ceiling) for item in items]
    given = runs_at([(item, model.difficulty(item.features)) for item in items], entry, buckets, shift)
    right = sum(run.correct for run in full)
    lost = sum(at_ceiling.correct and not run.correct for at_ceiling, run in zip(full, given, strict=True))
    steps, most = [float(run.steps) for run in given], [float(run.steps) for run in full]
    largest = max((*steps, *most), default=0.0)
    return Realised(
        n=len(items),
        never_right=len(items) - right,
        lost=lost,
        loss=wilson(lost, right),
        steps=bootstrap_mean(steps, seed, bounds=(0.0, largest)),
        saved=paired_difference(most, steps, seed, bounds=(-largest, largest)),
    )
