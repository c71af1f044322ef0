"""The published rules, each set per task type for the fewest steps under the constraint that ours keeps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unmask.bench.policy_items import MARGIN, TYPE_MARGIN
from unmask.bench.trial import Setup
from unmask.bench.tuning_run import Tuned
from unmask.stats import Interval, IntervalResult, paired_difference
from unmask.strategy import LOW_CONFIDENCE_WINDOW, StrategyChoice, StrategyName

_PROBABILITIES = (0.7, 0.8, 0.9, 0.95, 0.98, 0.99)
_NATS = (0.01, 0.05, 0.1, 0.2, 0.4, 0.8)
_GAPS = (1.0, 2.5, 5.0)
_PROPHET_SHARES = (2, 1)
"""Prophet's quotas depend on its budget, so that it is tried at a half and all of the largest."""
_WINDOWS = (None, LOW_CONFIDENCE_WINDOW)
"""A rule is tried as it was published, and with the window of the fixed budgets that it is compared with."""
RULES = (
    StrategyName.CONFIDENCE_THRESHOLD,
    StrategyName.ENTROPY_BOUND,
    StrategyName.KLASS,
    StrategyName.PROPHET,
)
SLACKS = (TYPE_MARGIN, 0.02, MARGIN, 0.005, 0.0)
"""How far below saturation a task type may be on the tuning items, the largest first; see `choose`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A setting of a rule with its answers to the tuning items of one task type."""

    setup: Setup
    answers: Tuned


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The setting of a rule for each task type.

    Attributes:
        meets: whether it keeps the constraint on the tuning items; if not, it is the nearest there is to it.
        tried: settings a task type.
    """

    rule: StrategyName
    setups: Mapping[str, Setup]
    meets: bool
    tried: int


def settings_of(rule: StrategyName, most: int, *, few: bool = False) -> tuple[Setup, ...]:
    """Return the settings that a rule is tried at, up to ``most`` steps a canvas: two if ``few``, else 12."""
    if rule is StrategyName.PROPHET:
        budgets = [max(1, most // share) for share in _PROPHET_SHARES]
        pairs = [(gap, budget) for gap in _GAPS for budget in budgets]
    else:
        pairs = [(bound, most) for bound in (_NATS if rule is StrategyName.ENTROPY_BOUND else _PROBABILITIES)]
    setups = tuple(
        Setup(max_steps=budget, strategy=StrategyChoice(name=rule, threshold=bound, window=window))
        for bound, budget in pairs
        for window in _WINDOWS
    )
    return (setups[len(setups) // 2], setups[-1]) if few else setups


def label_of(setup: Setup) -> str:
    """Name a setting without anything learnt and without exit, for a journal."""
    bound = "" if setup.strategy.threshold is None else f"@{setup.strategy.threshold:g}"
    window = "" if setup.strategy.window is None else f" window {setup.strategy.window}"
    return f"{setup.strategy.name}{bound}{window}/{setup.max_steps}"


def choose(
    rule: StrategyName, candidates: Mapping[str, Sequence[Candidate]], saturation: Mapping[str, Tuned], seed: int
) -> Choice:
    """Choose a rule's setting for each task type.

    Of each task type's settings whose quality is at most a slack below that of saturation, and whose difference lies
    above -3 points with 95 % confidence, the one with the fewest steps is taken. The slack is the largest at which
    the difference over all task types lies above -1 point, as ours has to; without one, every task type gets its most
    accurate setting.

    Args:
        rule: which.
        candidates: of each task type.
        saturation: answers at the one global saturation, to the same items.
        seed: of resampling.
    """
    kept = {task: _kept(found, saturation[task], seed) for task, found in candidates.items()}
    tried = min(map(len, candidates.values()))
    for slack in SLACKS:
        picked = {task: _fewest(found, saturation[task], slack) for task, found in kept.items()}
        whole = {task: candidate for task, candidate in picked.items() if candidate is not None}
        if len(whole) == len(picked) and _holds_overall(whole, saturation, seed):
            return _choice(rule, whole, tried, meets=True)
    best = {task: _most_accurate(found) for task, found in candidates.items()}
    return _choice(rule, best, tried, meets=False)


def _choice(rule: StrategyName, picked: Mapping[str, Candidate], tried: int, *, meets: bool) -> Choice:
    setups = {task: candidate.setup for task, candidate in picked.items()}
    return Choice(rule=rule, setups=setups, meets=meets, tried=tried)


def _kept(candidates: Sequence[Candidate], saturation: Tuned, seed: int) -> list[Candidate]:
    return [
        candidate
        for candidate in candidates
        if _low(quality_difference(candidate.answers.correct, saturation.correct, seed)) >= -TYPE_MARGIN
    ]


def _fewest(candidates: Sequence[Candidate], saturation: Tuned, slack: float) -> Candidate | None:
    least = float(saturation.correct.mean()) - slack - 1e-9
    good = [candidate for candidate in candidates if float(candidate.answers.correct.mean()) >= least]
    return min(good, key=lambda candidate: float(candidate.answers.steps.mean()), default=None)


def _most_accurate(candidates: Sequence[Candidate]) -> Candidate:
    return max(
        candidates,
        key=lambda candidate: (float(candidate.answers.correct.mean()), -float(candidate.answers.steps.mean())),
    )


def _holds_overall(picked: Mapping[str, Candidate], saturation: Mapping[str, Tuned], seed: int) -> bool:
    ours = np.concatenate([candidate.answers.correct for candidate in picked.values()])
    theirs = np.concatenate([saturation[task].correct for task in picked])
    return _low(quality_difference(ours, theirs, seed)) >= -MARGIN


def quality_difference(correct: NDArray[np.bool_], other: NDArray[np.bool_], seed: int) -> IntervalResult:
    """Return the difference of the shares of right answers to the same items."""
    return paired_difference(correct.astype(float), other.astype(float), seed, bounds=(-1.0, 1.0))


def _low(result: IntervalResult) -> float:
    return result.low if isinstance(result, Interval) else float("-inf")
