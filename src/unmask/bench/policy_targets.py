"""What a policy must reach, each target judged by the unfavourable end of its interval."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unmask.bench.freed_steps import quality_at_mean
from unmask.bench.oracle import Oracle, find_oracle
from unmask.bench.policy_figures import (
    AT_MEAN,
    BOOSTED,
    OURS,
    SATURATION,
    TYPE_SATURATION,
    grid_arm,
    mean_difference,
    paid_steps,
    quality_difference,
    worst_type,
)
from unmask.bench.policy_items import MARGIN, TYPE_MARGIN
from unmask.bench.policy_look import Look
from unmask.bench.policy_wall import Walls
from unmask.bench.published import RULES
from unmask.bench.report import Figure, MustReach, Op, measured, target
from unmask.stats import Interval, IntervalResult, NotEnoughData, bootstrap_mean, paired_difference, ratio_interval

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """Figures, and the targets on some of them."""

    figures: tuple[Figure, ...]
    must_reach: tuple[MustReach, ...]


def judge(look: Look, walls: Sequence[Walls], grid: Sequence[int], seed: int) -> Judged:
    """Judge ours, which is the estimator with early exit, against every other arm of one look.

    Args:
        look: of all arms, a fixed one for every budget of the grid among them.
        walls: timed at both batch sizes.
        grid: budgets, rising.
        seed: of resampling.
    """
    correct = np.array([look.arms[grid_arm(budget)].correct for budget in grid])
    steps = np.array([look.arms[grid_arm(budget)].steps for budget in grid])
    oracle = find_oracle(grid, correct > 0, steps)
    ratios = {
        "mean_steps_vs_saturation": (SATURATION, 0.3),
        "mean_steps_vs_type_saturation": (TYPE_SATURATION, 0.5),
    }
    versus = [target(_ratio(name, look, other, seed), Op.AT_MOST, most) for name, (other, most) in ratios.items()]
    figures = [_ratio(name, look, other, seed) for name, (other, _) in ratios.items()]
    wall, share = _worse_wall(walls, seed), _worse_share(walls, seed)
    quality, worst = _quality_bound(look, seed), _worst_bound(look, seed)
    published, notes = _best_published(look, seed)
    against_oracle = _against_oracle(look, oracle, seed)
    hard, at_mean = _hardest_third(look, steps, correct, seed)
    targets = (
        *versus,
        target(wall, Op.AT_MOST, 0.5),
        target(quality, Op.AT_LEAST, -MARGIN),
        target(worst, Op.AT_LEAST, -TYPE_MARGIN),
        target(published, Op.LESS, 1.0),
        target(against_oracle, Op.AT_MOST, 1.2),
        target(share, Op.AT_MOST, 0.01),
        target(hard, Op.ABOVE, 0.0),
    )
    judged = (*figures, wall, quality, worst, published, against_oracle, share, hard)
    beside = (*notes, *_oracle_figures(look, oracle, seed), *at_mean, *_wall_figures(walls, seed))
    return Judged(figures=(*judged, *beside), must_reach=targets)


def _ratio(name: str, look: Look, other: str, seed: int, note: str = "control runs included") -> Figure:
    return measured(
        name,
        ratio_interval(paid_steps(look, OURS), paid_steps(look, other), seed, paired=True),
        fallback=_over(paid_steps(look, OURS), paid_steps(look, other)),
        n=len(look.items),
        note=note,
    )


def _worse_wall(walls: Sequence[Walls], seed: int) -> Figure:
    found = [
        _wall(
            "wall_vs_saturation",
            entry,
            ratio_interval(entry.ours, entry.saturation, seed, paired=True),
            _over(entry.ours, entry.saturation),
        )
        for entry in walls
    ]
    return max(found, key=_unfavourable)


def _worse_share(walls: Sequence[Walls], seed: int) -> Figure:
    found = [
        _wall(
            "estimator_share_of_saving",
            entry,
            ratio_interval(entry.estimating, entry.saved, seed, paired=True),
            _over(entry.estimating, entry.saved),
        )
        for entry in walls
    ]
    return max(found, key=_unfavourable)


def _wall(name: str, entry: Walls, result: IntervalResult, fallback: float) -> Figure:
    if isinstance(result, Interval) and result.estimate < 0:
        # Nothing is saved, so there is no share of it.
        result = NotEnoughData(n=len(entry.ours), reason="nothing is saved")
    return measured(name, result, fallback=fallback, note=f"batch {entry.batch}, the worse of two", n=len(entry.ours))


def _unfavourable(figure: Figure) -> float:
    """Rank figures of which less is better; one without an interval is the worst there is."""
    return float("inf") if figure.high is None else figure.high


def _wall_figures(walls: Sequence[Walls], seed: int) -> list[Figure]:
    return [
        figure
        for entry in walls
        for figure in (
            measured(
                f"wall_vs_saturation_batch_{entry.batch}",
                ratio_interval(entry.ours, entry.saturation, seed, paired=True),
                fallback=_over(entry.ours, entry.saturation),
            ),
            measured(
                f"estimator_seconds_batch_{entry.batch}",
                bootstrap_mean(entry.estimating, seed),
                fallback=float(entry.estimating.mean()),
                unit="s",
            ),
        )
    ]


def _quality_bound(look: Look, seed: int) -> Figure:
    return measured(
        "quality_diff_lower_bound",
        quality_difference(look, OURS, seed),
        fallback=mean_difference(look, OURS),
        n=len(look.items),
        note="value: the difference; its bound is the lower end",
    )


def _worst_bound(look: Look, seed: int) -> Figure:
    task, result = worst_type(look, OURS, seed)
    return measured(
        "worst_type_quality_diff_lower_bound",
        result,
        fallback=mean_difference(look, OURS, look.of(task)),
        n=int(look.of(task).sum()),
        note=f"{task}, whose lower end is the lowest",
    )


def is_eligible(look: Look, name: str, seed: int) -> bool:
    """Tell whether an arm keeps the constraint on quality that ours has to keep."""
    overall, (_, worst) = quality_difference(look, name, seed), worst_type(look, name, seed)
    if isinstance(overall, NotEnoughData) or isinstance(worst, NotEnoughData):
        return False
    return overall.low >= -MARGIN and worst.low >= -TYPE_MARGIN


def _best_published(look: Look, seed: int) -> tuple[Figure, list[Figure]]:
    rules = {str(rule): is_eligible(look, rule, seed) for rule in RULES}
    notes = [
        Figure(name=f"{rule}.eligible", value=float(eligible), note="keeps the constraint on quality")
        for rule, eligible in rules.items()
    ]
    name = "mean_steps_vs_best_published"
    able = [rule for rule, eligible in rules.items() if eligible]
    if able:
        best = min(able, key=lambda rule: float(look.arms[rule].steps.mean()))
        return _ratio(name, look, best, seed, f"{best}, the fewest steps of {len(able)} eligible"), notes
    fewest = min(rules, key=lambda rule: float(look.arms[rule].steps.mean()))
    bare = _over(paid_steps(look, OURS), look.arms[fewest].steps)
    none = NotEnoughData(n=len(look.items), reason="no published rule keeps the constraint on quality")
    return measured(name, none, fallback=bare, n=len(look.items), note=f"against {fewest},"), notes


def _against_oracle(look: Look, oracle: Oracle, seed: int) -> Figure:
    ours, theirs = paid_steps(look, OURS)[oracle.right], oracle.steps[oracle.right]
    count = int(oracle.right.sum())
    return measured(
        "mean_steps_vs_oracle",
        ratio_interval(ours, theirs, seed, paired=True),
        fallback=_over(ours, theirs),
        n=count,
        note=f"items right at the ceiling; {len(oracle.right) - count} others apart",
    )


def _oracle_figures(look: Look, oracle: Oracle, seed: int) -> list[Figure]:
    right, wrong = oracle.steps[oracle.right], paid_steps(look, OURS)[~oracle.right]
    none = NotEnoughData(n=0, reason="no such items")
    return [
        measured(
            "oracle.mean_steps",
            bootstrap_mean(right, seed) if len(right) else none,
            fallback=_mean(right),
            n=len(right),
        ),
        measured(
            f"{OURS}.never_right.mean_steps",
            bootstrap_mean(wrong, seed) if len(wrong) else none,
            fallback=_mean(wrong),
            n=len(wrong),
            note="items wrong at the ceiling",
        ),
    ]


def _hardest_third(look: Look, steps: Floats, correct: Floats, seed: int) -> tuple[Figure, list[Figure]]:
    name, hard = "hardest_third_quality_at_equal_steps", look.hardest
    ours, paid = look.arms[BOOSTED].correct, paid_steps(look, BOOSTED)
    mean = _mean(paid)
    fixed = quality_at_mean(steps, correct, mean)
    count = int(hard.sum())
    if fixed is None or not count:
        reason = "all items look alike" if fixed is not None else "no fixed budget takes as many steps"
        return measured(name, NotEnoughData(n=count, reason=reason), fallback=0.0, n=count), []
    difference = paired_difference(ours[hard], fixed[hard], seed, bounds=(-1.0, 1.0))
    whole = paired_difference(ours, fixed, seed, bounds=(-1.0, 1.0))
    note = f"both at {mean:.2f} steps on average"
    return (
        measured(name, difference, fallback=_mean(ours[hard] - fixed[hard]), n=count, note=note),
        [
            Figure(name=f"{AT_MEAN}.mean_steps", value=mean, note="a mix of two neighbouring budgets"),
            Figure(name=f"{AT_MEAN}.quality", value=_mean(fixed), n=len(fixed)),
            Figure(name=f"{AT_MEAN}.hardest_third.quality", value=_mean(fixed[hard]), n=count),
            measured("quality_at_equal_steps", whole, fallback=_mean(ours - fixed), n=len(fixed), note=note),
        ],
    )


def _over(top: Floats, bottom: Floats) -> float:
    below = _mean(bottom)
    return _mean(top) / below if below else 0.0


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else 0.0
