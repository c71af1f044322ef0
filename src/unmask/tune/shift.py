"""How far budgets may fall below the ceiling, found on items that nothing was tuned on.

Shifts are tried from the one that gives every item its ceiling downwards, in steps
fixed before any item is looked at. The loss at a shift is the share of items that
are wrong at the bucket they are given, among those right at the ceiling. The last
shift is taken before the first whose upper bound exceeds what the policy allows.

This is fixed-sequence testing (Maurer, Hothorn and Lehmacher, 1995; for risk
control: Angelopoulos et al., "Learn then Test", 2021). Each shift is a test of "its
loss is above alpha" at the full level, with no correction for their number: a shift
that should not pass is taken only if every one before it passed too, and the first
of those that should not have passed is a single test, wrong at most 2.5 % of the
time. Nothing is assumed of how the loss changes with the shift.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeAlias

from unmask.control.difficulty import Difficulty, TaskModel, steps_for
from unmask.policy.policy import BucketSteps, BudgetMode, TaskPolicy
from unmask.stats import Interval, NotEnoughData, clopper_pearson
from unmask.tune.item_runs import ItemRuns, Run, RunsError

SHIFT_STEP = 0.125
"""Log2 steps from one shift tried to the next."""
LEAST_ITEMS = 1000
"""Calibration items of a task type below which its budgets stay at the ceiling."""
CONFIDENCE = 0.95
"""Two-sided; the upper bound alone holds 97.5 % of the time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """Items wrong at the bucket they are given though right at the ceiling, at one shift.

    Attributes:
        right: items right at the ceiling.
        lost: those of them that are wrong at their bucket.
        upper: 97.5 % upper bound of the share of items lost.
    """

    shift: float
    right: int
    lost: int
    upper: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrated:
    """The shift of a task type.

    Attributes:
        n: calibration items.
        never_right: items wrong at the ceiling; they count in no loss.
        taken: the loss at the shift that was taken.
        refused: the loss at the first that was not; ``None`` where every item already has its least bucket.
    """

    n: int
    never_right: int
    taken: Loss
    refused: Loss | None


Calibration: TypeAlias = Calibrated | NotEnoughData
"""Without enough data a task type stays at its ceiling."""


def shifts(entry: TaskPolicy, least: float, greatest: float) -> Iterator[float]:
    """Yield the shifts that are tried, from where every item has its ceiling to where every item has its floor.

    They follow from the policy and from what scores there can be, ``least`` to ``greatest``.
    """
    top = math.ceil((math.log2(entry.ceiling) - least) / SHIFT_STEP)
    bottom = math.floor((math.log2(entry.floor) - greatest) / SHIFT_STEP)
    for number in range(top, bottom - 1, -1):
        yield number * SHIFT_STEP


def calibrate(
    items: Sequence[ItemRuns],
    model: TaskModel,
    entry: TaskPolicy,
    buckets: tuple[BucketSteps, ...],
    *,
    least_items: int = LEAST_ITEMS,
) -> Calibration:
    """Find the lowest shift of a task type that is safe, from items that neither training nor any choice has seen.

    Raises:
        RunsError: a budget that may be given is none that the items were run at.
    """
    check_grid(items, entry, buckets)
    right = [item for item in items if item.at(entry.ceiling).correct]
    n, never_right = len(items), len(items) - len(right)
    if n < least_items:
        return NotEnoughData(n=n, reason=f"{n} items, at least {least_items} needed")
    needed = items_needed(entry.alpha)
    if len(right) < needed:
        reason = f"{len(right)} items right at the ceiling, at least {needed} needed for a loss of {entry.alpha:g}"
        return NotEnoughData(n=n, reason=reason)
    judged = [(item, model.difficulty(item.features)) for item in right]
    tried = tuple(shifts(entry, model.forest.least, model.forest.greatest))
    counts = (count_lost(judged, entry, buckets, shift) for shift in tried)
    taken, refused = last_safe(counts, len(right), entry.alpha)
    losses = [
        Loss(shift=shift, right=len(right), lost=lost, upper=upper_bound(lost, len(right)))
        for shift, lost in zip(tried, (*taken, *refused), strict=False)
    ]
    return Calibrated(
        n=n,
        never_right=never_right,
        taken=losses[len(taken) - 1],
        refused=losses[len(taken)] if refused else None,
    )


def last_safe(counts: Iterable[int], right: int, alpha: float) -> tuple[list[int], list[int]]:
    """Take counts of lost items in order while their upper bound is at most ``alpha``.

    Returns:
        The counts taken, and the one that was refused, if one was. The first is of the ceiling itself, where nothing is
        lost by definition; it is taken in any case.
    """
    taken: list[int] = []
    for lost in counts:
        if taken and upper_bound(lost, right) > alpha:
            return taken, [lost]
        taken.append(lost)
    return taken, []


@lru_cache(maxsize=1 << 12)
def upper_bound(lost: int, right: int) -> float:
    """Return the 97.5 % Clopper-Pearson upper bound of a loss, 1 without any item."""
    match clopper_pearson(lost, right, CONFIDENCE):
        case Interval(high=high):
            return high
        case NotEnoughData():
            return 1.0


def items_needed(alpha: float) -> int:
    """Return how many items without a single loss it takes to show that at most ``alpha`` are lost."""
    tail = (1 - CONFIDENCE) / 2
    return max(1, math.ceil(math.log(tail) / math.log1p(-alpha))) if 0 < alpha < 1 else 1


def with_shift(entry: TaskPolicy, shift: float) -> TaskPolicy:
    """Return the policy of a task type that is budgeted by difficulty, with this shift."""
    return replace(entry, mode=BudgetMode.ADAPTIVE, shift=shift)


def runs_at(
    judged: Iterable[tuple[ItemRuns, Difficulty]], entry: TaskPolicy, buckets: tuple[BucketSteps, ...], shift: float
) -> list[Run]:
    """Return each item's run at the budget it is given at a shift, by the same rule as while serving."""
    shifted = with_shift(entry, shift)
    return [item.at(steps_for(found.score if found.is_sure() else None, shifted, buckets)) for item, found in judged]


def count_lost(
    judged: Iterable[tuple[ItemRuns, Difficulty]], entry: TaskPolicy, buckets: tuple[BucketSteps, ...], shift: float
) -> int:
    """Count the items that are wrong at their bucket; all are right at the ceiling."""
    return sum(not run.correct for run in runs_at(judged, entry, buckets, shift))


def check_grid(items: Sequence[ItemRuns], entry: TaskPolicy, buckets: tuple[BucketSteps, ...]) -> None:
    """Refuse runs that lack a budget which the policy may give.

    Raises:
        RunsError: naming the budgets that are missing.
    """
    given = {entry.ceiling} | {min(max(bucket.max_steps, entry.floor), entry.ceiling) for bucket in buckets}
    missing = sorted(given - set(items[0].budgets)) if items else []
    if missing:
        raise RunsError(
            f"{entry.task} may be given {', '.join(map(str, missing))} steps, and was run at "
            f"{', '.join(map(str, items[0].budgets))} alone. Run it at every budget that its policy may give."
        )
