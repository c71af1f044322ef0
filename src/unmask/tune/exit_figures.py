"""What a setting does to items: steps, quality, and how often its exit is wrong."""

from collections.abc import Sequence
from dataclasses import dataclass

from unmask.stats import Interval, IntervalResult, NotEnoughData, bootstrap_mean, clopper_pearson, paired_difference
from unmask.stats import wilson as wilson_interval

ONE_SIDED = 0.90
"""Two-sided confidence whose upper end alone holds 95 % of the time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemOutcome:
    """One item, run to the end of its budget and with a setting.

    Attributes:
        reference_steps: steps of the reference: all of its budget.
        reference_correct: whether that is right.
        full_steps: steps of the setting's own full run: its strategy without its exit rule.
        full_correct: whether that is right.
        exited: whether the rule was met before that.
        steps: steps with the rule; ``correct`` whether the answer is right.
    """

    reference_steps: int
    reference_correct: bool
    full_steps: int
    full_correct: bool
    exited: bool
    steps: int
    correct: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ExitFigures:
    """What a setting did on items of one split; intervals of 95 %, differences item by item.

    Attributes:
        steps: mean denoise steps a request.
        reference_steps: those of the reference.
        saved: how many fewer than the reference; ``saved_by_exit`` than the setting's own full run.
        quality: share of right answers, less the reference's.
        strategy_quality: the same of the setting's own full run.
        exits: items on which the rule was met.
        misjudged: of them, wrong though the own full run is right; ``reverse`` the other way round.
        both_wrong: of them, wrong either way.
        lost: of all items, wrong though the reference is right.
        bound: upper bound of the misjudged share of exits; see `misjudgement_bound`.
    """

    items: int
    steps: IntervalResult
    mean_steps: float
    reference_steps: float
    saved: IntervalResult
    saved_by_exit: IntervalResult
    quality: IntervalResult
    strategy_quality: IntervalResult
    exits: int
    misjudged: int
    reverse: int
    both_wrong: int
    lost: int
    bound: float


def figures_of(outcomes: Sequence[ItemOutcome], seed: int) -> ExitFigures:
    """Return the figures of outcomes, of which there is at least one."""
    steps = [float(found.steps) for found in outcomes]
    reference = [float(found.reference_steps) for found in outcomes]
    full = [float(found.full_steps) for found in outcomes]
    most = max((*steps, *reference, *full))
    right = [float(found.correct) for found in outcomes]
    expected = [float(found.reference_correct) for found in outcomes]
    exits = [found for found in outcomes if found.exited]
    misjudged = sum(found.full_correct and not found.correct for found in exits)
    return ExitFigures(
        items=len(outcomes),
        steps=bootstrap_mean(steps, seed, bounds=(0.0, most)),
        mean_steps=sum(steps) / len(steps),
        reference_steps=sum(reference) / len(reference),
        saved=paired_difference(reference, steps, seed, bounds=(-most, most)),
        saved_by_exit=paired_difference(full, steps, seed, bounds=(-most, most)),
        quality=paired_difference(right, expected, seed, bounds=(-1, 1)),
        strategy_quality=paired_difference(
            [float(found.full_correct) for found in outcomes], expected, seed, bounds=(-1, 1)
        ),
        exits=len(exits),
        misjudged=misjudged,
        reverse=sum(found.correct and not found.full_correct for found in exits),
        both_wrong=sum(not found.correct and not found.full_correct for found in exits),
        lost=sum(found.reference_correct and not found.correct for found in outcomes),
        bound=misjudgement_bound(misjudged, len(exits)),
    )


def misjudgement_bound(misjudged: int, exits: int) -> float:
    """Return an upper bound of the misjudged share of exits, 1 where there are none.

    The larger of the one-sided 95 % bound of Clopper and Pearson and the upper end of Wilson's 95 % interval: the first
    holds whatever the share is, by the second control runs are judged once a rule is approved.
    """
    ends = (clopper_pearson(misjudged, exits, ONE_SIDED), wilson_interval(misjudged, exits))
    return max(1.0 if isinstance(end, NotEnoughData) else end.high for end in ends)


def exits_needed(misjudged: int, limit: float) -> int:
    """Return the fewest exits among which so many misjudged ones keep the bound within a limit.

    381 for none and a limit of 1 %, 878 for three.
    """
    low, high = misjudged, max(1, misjudged)
    while misjudgement_bound(misjudged, high) > limit:
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if misjudgement_bound(misjudged, middle) > limit else (low, middle)
    return high


def least(result: IntervalResult) -> float:
    """Return the lower end of an interval; −∞ where there is none."""
    return result.low if isinstance(result, Interval) else float("-inf")
