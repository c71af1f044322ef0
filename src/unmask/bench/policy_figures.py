"""What each arm of the policy bench costs and how often it is right, with intervals and against saturation."""

import numpy as np
from numpy.typing import NDArray

from unmask.bench.policy_look import ArmRuns, Look
from unmask.bench.report import Figure, measured
from unmask.stats import (
    Interval,
    IntervalResult,
    NotEnoughData,
    bootstrap_mean,
    paired_difference,
    percentile_interval,
    ratio_interval,
    wilson,
)

SATURATION = "fixed_saturation"
TYPE_SATURATION = "fixed_type_saturation"
KNEE = "fixed_knee"
ESTIMATOR = "estimator"
OURS = "estimator_exit"
BOOSTED = "freed_steps"
AT_MEAN = "fixed_at_freed_steps"

Floats = NDArray[np.float64]
Marks = NDArray[np.bool_]


def grid_arm(budget: int) -> str:
    """Return the name of the arm of a fixed budget."""
    return f"fixed_{budget}"


def paid_steps(look: Look, name: str) -> Floats:
    """Return the steps of each item in an arm, its share of control runs paid.

    A control run goes on to its budget, as the estimator's arm does; so that an arm with exits costs each request the
    steps of both, by the share of control runs there is. Requests that never exit cost nothing more.
    """
    steps = look.arms[name].steps
    if name not in {OURS, BOOSTED}:
        return steps
    mixed = (1 - look.control) * look.arms[OURS].steps + look.control * look.arms[ESTIMATOR].steps
    runs_on = np.array([setup.exit is None for setup in look.arms[name].setups], dtype=np.bool_)
    return np.where(runs_on, steps, mixed)


def arm_figures(look: Look, name: str, seed: int, prefix: str = "") -> list[Figure]:
    """Return an arm's steps, latency, TPF and quality: overall, per task type, and of the hardest third."""
    arm, steps = look.arms[name], paid_steps(look, name)
    count = len(steps)
    largest = float(steps.max(initial=0.0))
    note = "control runs included" if name in {OURS, BOOSTED} and look.control.any() else ""
    start = f"{prefix}{name}"
    figures = [
        measured(
            f"{start}.mean_steps",
            bootstrap_mean(steps, seed, bounds=(0.0, max(largest, 1.0))),
            fallback=_mean(steps),
            n=count,
            note=note,
        ),
        _percentile(f"{start}.p95_steps", steps, 0.95, ""),
        _percentile(f"{start}.latency_p50", arm.seconds, 0.5, "s"),
        _percentile(f"{start}.latency_p95", arm.seconds, 0.95, "s"),
        measured(
            f"{start}.tpf",
            ratio_interval(arm.tokens, arm.steps, seed, paired=True),
            fallback=float(arm.tokens.sum() / max(arm.steps.sum(), 1.0)),
        ),
        _quality(f"{start}.quality", arm, np.ones(count, dtype=np.bool_)),
        *(_quality(f"{start}.{task}.quality", arm, look.of(task)) for task in look.tasks),
        _quality(f"{start}.hardest_third.quality", arm, look.hardest),
    ]
    return figures if name == SATURATION else [*figures, *_differences(look, name, seed, start)]


def grid_figures(look: Look, name: str, seed: int) -> list[Figure]:
    """Return steps and quality of one fixed budget of the grid."""
    arm = look.arms[name]
    largest = max(float(arm.steps.max(initial=0.0)), 1.0)
    steps = bootstrap_mean(arm.steps, seed, bounds=(0.0, largest))
    return [
        measured(f"{name}.mean_steps", steps, fallback=_mean(arm.steps), n=len(arm.steps)),
        _quality(f"{name}.quality", arm, np.ones(len(arm.steps), dtype=np.bool_)),
    ]


def quality_difference(look: Look, name: str, seed: int, marks: Marks | None = None) -> IntervalResult:
    """Return the share of right answers in an arm less that at saturation, item by item, of all or the marked items."""
    chosen = slice(None) if marks is None else marks
    return paired_difference(
        look.arms[name].correct[chosen], look.arms[SATURATION].correct[chosen], seed, bounds=(-1.0, 1.0)
    )


def worst_type(look: Look, name: str, seed: int) -> tuple[str, IntervalResult]:
    """Return the task type whose difference from saturation may lie lowest, or the first that has not enough data."""
    found = [(task, quality_difference(look, name, seed, look.of(task))) for task in look.tasks]
    for task, result in found:
        if isinstance(result, NotEnoughData):
            return task, result
    return min(found, key=lambda entry: entry[1].low if isinstance(entry[1], Interval) else 0.0)


def mean_difference(look: Look, name: str, marks: Marks | None = None) -> float:
    """Return the bare difference of the shares of right answers; 0 of nothing."""
    chosen = slice(None) if marks is None else marks
    return _mean((look.arms[name].correct - look.arms[SATURATION].correct)[chosen])


def _differences(look: Look, name: str, seed: int, start: str) -> list[Figure]:
    parts: list[tuple[str, Marks]] = [
        ("", np.ones(len(look.items), dtype=np.bool_)),
        *((f"{task}.", look.of(task)) for task in look.tasks),
        ("hardest_third.", look.hardest),
    ]
    ratio = ratio_interval(paid_steps(look, name), paid_steps(look, SATURATION), seed, paired=True)
    bare = _mean(paid_steps(look, name)) / max(_mean(paid_steps(look, SATURATION)), 1e-9)
    return [
        measured(f"{start}.steps_vs_saturation", ratio, fallback=bare),
        *(
            measured(
                f"{start}.{part}diff_vs_saturation",
                quality_difference(look, name, seed, marks),
                fallback=mean_difference(look, name, marks),
                n=int(marks.sum()),
            )
            for part, marks in parts
        ),
    ]


def _quality(name: str, arm: ArmRuns, marks: Marks) -> Figure:
    count = int(marks.sum())
    return measured(name, wilson(int(arm.correct[marks].sum()), count), fallback=0.0, n=count)


def _percentile(name: str, values: Floats, quantile: float, unit: str) -> Figure:
    return measured(
        name, percentile_interval(values, quantile), fallback=float(np.quantile(values, quantile)), unit=unit
    )


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else 0.0
