"""Fits a route: predicts whether its small model is right, and finds from which probability on it may be tried first.

Per task type gradient boosting is fitted to whether the small model is right, on
the tuning split. Thresholds are then tried on the calibration split, from the
strictest down, in steps that were fixed before any of it was looked at: fixed-sequence
testing, as in `unmask.tune.shift`. The loss at a threshold is the share of requests
that the large model has right and the route wrong, less that of the reverse; each
share is bounded by Clopper and Pearson at half the error. Of the thresholds before the
first whose bound exceeds what is allowed, the cheapest is taken, if it costs less than
the large model alone.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import GradientBoostingClassifier

from unmask.control.difficulty import TaskModel
from unmask.control.features import Features
from unmask.control.forest import Forest
from unmask.control.route import TaskRoute
from unmask.stats import Interval, clopper_pearson
from unmask.tune.difficulty import exported_tree, task_model

CONFIDENCE = 0.95
"""Two-sided; the upper bound of a loss alone holds 97.5 % of the time."""
GRID = 20
"""Quantiles of the predictions that are tried as thresholds, and 0 after them."""
LEAST_OF_EACH = 25
"""Right and wrong answers of the small model below which its share of right ones is predicted for every request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """What one model made of an item.

    Attributes:
        is_right: by the checker, which knows the truth.
        is_accepted: by the verifier, which a server has.
        seconds: of forwards.
    """

    is_right: bool
    is_accepted: bool
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutedItem:
    """An item that both models were asked."""

    features: Features
    small: Tried
    large: Tried


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteRule:
    """What a threshold is held to.

    Attributes:
        max_loss: largest upper bound of the share of requests lost.
        decision_s: seconds that choosing takes, charged to every request.
    """

    max_loss: float = 0.01
    decision_s: float = 0.0
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RoutedArm:
    """What a route makes of items, one value an item: whether it is right, its seconds, and which models it took."""

    is_right: npt.NDArray[np.float64]
    seconds: npt.NDArray[np.float64]
    is_small: npt.NDArray[np.bool_]
    is_escalated: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedThreshold:
    """One threshold on the calibration split.

    Attributes:
        small: share of requests that try the small model.
        lost, gained: requests that only the large model has right, and only the route.
        upper: 97.5 % upper bound of the loss.
        saving: share of the large model's seconds that is saved.
    """

    threshold: float
    small: float
    lost: int
    gained: int
    upper: float
    saving: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The threshold of a task type; ``taken`` is ``None`` where the small model is never tried, and ``reason`` why."""

    tried: tuple[TriedThreshold, ...]
    taken: TriedThreshold | None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedTask:
    """A task type's part of a route, and how it was found: with escalation, and alone.

    Attributes:
        tuned, calibrated: items of each split.
        small_right, large_right: shares of the calibration items that each model has right.
        small_s, large_s: mean seconds of forwards that each takes for one of them.
    """

    task: str
    route: TaskRoute
    tuned: int
    calibrated: int
    small_right: float
    large_right: float
    small_s: float
    large_s: float
    found: Found
    found_alone: Found


def fit_task(task: str, tuning: Sequence[RoutedItem], calibrating: Sequence[RoutedItem], rule: RouteRule) -> FittedTask:
    """Fit one task type; the two sets of items have none in common."""
    model = _predictor(tuning, rule.seed)
    predicted = probabilities(model, calibrating)
    grid = thresholds([found for found in probabilities(model, tuning) if found is not None])
    found, alone = (
        find_threshold(calibrating, predicted, grid, rule, can_escalate=can_escalate) for can_escalate in (True, False)
    )
    return FittedTask(
        task=task,
        route=TaskRoute(model=model, threshold=_value(found), threshold_alone=_value(alone)),
        tuned=len(tuning),
        calibrated=len(calibrating),
        small_right=float(np.mean([item.small.is_right for item in calibrating])),
        large_right=float(np.mean([item.large.is_right for item in calibrating])),
        small_s=float(np.mean([item.small.seconds for item in calibrating])),
        large_s=float(np.mean([item.large.seconds for item in calibrating])),
        found=found,
        found_alone=alone,
    )


def thresholds(predicted: Sequence[float]) -> tuple[float, ...]:
    """Return the thresholds that are tried, the strictest first."""
    quantiles = np.quantile(predicted, np.linspace(1, 0, GRID + 1), method="inverted_cdf")
    return tuple(dict.fromkeys([*quantiles.tolist(), 0.0]))


def probabilities(model: TaskModel, items: Sequence[RoutedItem]) -> list[float | None]:
    """Return with which probability the small model is right on each item, where that is known."""
    route = TaskRoute(model=model, threshold=None, threshold_alone=None)
    return [route.probability(item.features) for item in items]


def find_threshold(
    items: Sequence[RoutedItem],
    predicted: Sequence[float | None],
    grid: Sequence[float],
    rule: RouteRule,
    *,
    can_escalate: bool,
) -> Found:
    """Find the cheapest threshold that is safe, on items that nothing was fitted to."""
    needed = items_needed(rule.max_loss)
    if len(items) < needed:
        return Found(tried=(), taken=None, reason=f"{len(items)} items, at least {needed} needed")
    large = large_arm(items)
    tried: list[TriedThreshold] = []
    safe: list[TriedThreshold] = []
    for threshold in grid:
        arm = route_items(items, predicted, threshold, rule, can_escalate=can_escalate)
        tried.append(_compared(threshold, arm, large))
        if tried[-1].upper > rule.max_loss:
            break
        safe.append(tried[-1])
    best = max(safe, key=lambda one: one.saving, default=None)
    if best is None:
        return Found(tried=tuple(tried), taken=None, reason="the small model is never good enough")
    if best.saving <= 0:
        return Found(tried=tuple(tried), taken=None, reason="nothing is saved wherever it is good enough")
    return Found(tried=tuple(tried), taken=best)


def items_needed(max_loss: float) -> int:
    """Return how many items without a single loss it takes to show that at most ``max_loss`` is lost."""
    return math.ceil(math.log((1 - CONFIDENCE) / 4) / math.log1p(-max_loss))


def loss_bound(lost: int, gained: int, n: int) -> float:
    """Return the 97.5 % upper bound of a net loss: of what is lost from above, of what is gained from below."""
    each = 1 - (1 - CONFIDENCE) / 2
    high, low = clopper_pearson(lost, n, each), clopper_pearson(gained, n, each)
    return high.high - low.low if isinstance(high, Interval) and isinstance(low, Interval) else 1.0


def route_items(
    items: Sequence[RoutedItem],
    predicted: Sequence[float | None],
    threshold: float | None,
    rule: RouteRule,
    *,
    can_escalate: bool,
) -> RoutedArm:
    """Return what a route makes of items of one task type, by the same rules as while serving."""
    small = [threshold is not None and found is not None and found >= threshold for found in predicted]
    later = [tries and can_escalate and not item.small.is_accepted for item, tries in zip(items, small, strict=True)]
    triples = list(zip(items, small, later, strict=True))
    return RoutedArm(
        # An escalated answer is the large model's: with one verifier it never fails more of them than the small one's.
        is_right=np.array(
            [(item.small if tries and not follows else item.large).is_right for item, tries, follows in triples],
            dtype=np.float64,
        ),
        seconds=np.array(
            [
                rule.decision_s + tries * item.small.seconds + (follows or not tries) * item.large.seconds
                for item, tries, follows in triples
            ]
        ),
        is_small=np.array(small, dtype=np.bool_),
        is_escalated=np.array(later, dtype=np.bool_),
    )


def large_arm(items: Sequence[RoutedItem]) -> RoutedArm:
    """Return what the large model alone makes of items."""
    nothing = np.zeros(len(items), dtype=np.bool_)
    return RoutedArm(
        is_right=np.array([item.large.is_right for item in items], dtype=np.float64),
        seconds=np.array([item.large.seconds for item in items]),
        is_small=nothing,
        is_escalated=nothing,
    )


def _compared(threshold: float, routed: RoutedArm, large: RoutedArm) -> TriedThreshold:
    lost = int(((large.is_right == 1) & (routed.is_right == 0)).sum())
    gained = int(((large.is_right == 0) & (routed.is_right == 1)).sum())
    whole = float(large.seconds.sum())
    return TriedThreshold(
        threshold=threshold,
        small=float(routed.is_small.mean()),
        lost=lost,
        gained=gained,
        upper=loss_bound(lost, gained, len(large.seconds)),
        saving=1 - float(routed.seconds.sum()) / whole if whole else 0.0,
    )


def _predictor(items: Sequence[RoutedItem], seed: int) -> TaskModel:
    """Fit the log-odds of the small model being right; with too few of either kind they are the same for all."""
    rows = np.stack([item.features.vector for item in items])
    right = np.array([item.small.is_right for item in items])
    if min(right.sum(), (~right).sum()) < LEAST_OF_EACH:
        # A prior of one of each keeps them finite.
        forest = Forest(math.log((right.sum() + 1) / ((~right).sum() + 1)), ())
    else:
        forest = _boosted(rows, right, seed)
    return task_model(forest, [item.features for item in items])


def _boosted(rows: npt.NDArray[np.float32], right: npt.NDArray[np.bool_], seed: int) -> Forest:
    model = GradientBoostingClassifier(
        n_estimators=48,
        max_depth=3,
        learning_rate=0.1,
        min_samples_leaf=max(5, len(rows) // 50),
        random_state=seed,
    ).fit(rows, right)
    share = float(right.mean())
    trees = tuple(exported_tree(estimator.tree_, model.learning_rate) for estimator in model.estimators_[:, 0])
    return Forest(math.log(share / (1 - share)), trees)


def _value(found: Found) -> float | None:
    return None if found.taken is None else found.taken.threshold
