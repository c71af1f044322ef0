"""How many steps a request needs, estimated before its first one, and the bucket that follows.

The score is log2 of a canvas's steps. A request gets the smallest bucket that
holds ``2 ** (score + shift)`` steps, within the floor and ceiling of its task type;
``shift`` is the policy's, set by calibration. What the estimator was not trained on
gets the larger bucket: a task type without a model, and a request that lies outside
what was seen in training, its task type's ceiling.
"""

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from unmask.control.features import FEATURES, Features
from unmask.control.forest import Forest
from unmask.policy.policy import BucketSteps, BudgetMode, Policy, TaskPolicy
from unmask.types import Bucket

LEAST_CONFIDENCE = 0.9
"""Below this a request gets its ceiling: a feature lies a tenth of the trained range outside of it."""

_UNRANGED = frozenset({"max_tokens"})
"""A limit on the answer makes no request harder, and tuning runs all have the same."""


class Reason(StrEnum):
    """Why a request got its bucket.

    ``estimated``: by its score. ``fixed``: its task type's policy has one budget for all. ``unsure``: the estimate is
    not to be relied on. ``no_model``: the estimator knows nothing of its task type.
    """

    ESTIMATED = "estimated"
    FIXED = "fixed"
    UNSURE = "unsure"
    NO_MODEL = "no_model"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difficulty:
    """What an estimator says of a request.

    Attributes:
        score: log2 of the steps of a canvas it is likely to need, before any shift.
        bin: which fifth of its task type's tuning items it is like, 0 the easiest.
        confidence: 1 within the range of every feature seen in training, falling to 0 where one lies a whole range
            outside of it.
    """

    score: float
    bin: int
    confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The budget that a request's difficulty gives it, in steps a canvas, with what it rests on.

    Attributes:
        difficulty: ``None`` where there is no model of the task type.
        bucket: the tier of ``max_steps``.
    """

    task: str
    difficulty: Difficulty | None
    bucket: Bucket
    max_steps: int
    reason: Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskModel:
    """What an estimator knows of one task type.

    Attributes:
        forest: from feature values to the score.
        ranges: least and greatest value of each feature in training, in the order of `FEATURES`.
        bins: scores that part the training items into fifths, ascending.
    """

    forest: Forest
    ranges: tuple[tuple[float, float], ...]
    bins: tuple[float, ...]

    def difficulty(self, features: Features) -> Difficulty:
        """Return what is said of a request."""
        score = self.forest.predict(features.values)
        return Difficulty(score=score, bin=bisect_right(self.bins, score), confidence=self._confidence(features))

    def _confidence(self, features: Features) -> float:
        confidence = 1.0
        for value, (low, high), name in zip(features.values, self.ranges, FEATURES, strict=True):
            if not low <= value <= high and name not in _UNRANGED:
                outside = max(low - value, value - high) / max(high - low, 1.0)
                confidence = min(confidence, 1.0 - outside)
        return max(confidence, 0.0)


class Estimator:
    """Difficulty models by task type; made by `unmask tune difficulty`, read by `unmask.control.estimator_file`.

    Attributes:
        model: name and ``model_digest`` of the weights whose runs it was trained on.
        digest: names the estimator in policies.
    """

    def __init__(self, *, model: str, model_digest: str, digest: str, tasks: Mapping[str, TaskModel]) -> None:
        self.model = model
        self.model_digest = model_digest
        self.digest = digest
        self.tasks = dict(tasks)

    def difficulty(self, features: Features) -> Difficulty | None:
        """Return the difficulty of a request, or nothing where its task type has no model."""
        model = self.tasks.get(features.task)
        return None if model is None else model.difficulty(features)

    def estimate(self, features: Features, policy: Policy, *, task_confidence: float = 1.0) -> Estimate:
        """Return a request's budget by difficulty; service classes and what a request asks for come after.

        Args:
            features: of the request.
            policy: the policy that is in force.
            task_confidence: how sure it is that the request is of its task type; 1 where the caller named it.
        """
        entry = policy.task(features.task)
        return assign(
            self.difficulty(features), entry, policy.buckets, task=features.task, task_confidence=task_confidence
        )


def assign(
    difficulty: Difficulty | None,
    entry: TaskPolicy,
    buckets: tuple[BucketSteps, ...],
    *,
    task: str,
    task_confidence: float = 1.0,
) -> Estimate:
    """Return the budget for a difficulty under a task type's policy."""
    if entry.mode is BudgetMode.FIXED:
        steps, reason = entry.default, Reason.FIXED
    elif difficulty is None or entry.task != task:
        steps, reason = entry.ceiling, Reason.NO_MODEL
    elif difficulty.confidence * task_confidence < LEAST_CONFIDENCE:
        steps, reason = entry.ceiling, Reason.UNSURE
    else:
        steps, reason = steps_for(difficulty.score + entry.shift, entry, buckets), Reason.ESTIMATED
    return Estimate(task=task, difficulty=difficulty, bucket=bucket_of(steps, buckets), max_steps=steps, reason=reason)


def steps_for(score: float, entry: TaskPolicy, buckets: tuple[BucketSteps, ...]) -> int:
    """Return the steps of the smallest bucket that holds ``2 ** score``, within the task type's floor and ceiling."""
    # No bucket needs more than its ceiling; without this, a large score would overflow.
    needed = 2.0 ** min(score, 62.0)
    steps = next((bucket.max_steps for bucket in buckets if bucket.max_steps >= needed), entry.ceiling)
    return min(max(steps, entry.floor), entry.ceiling)


def bucket_of(steps: int, buckets: tuple[BucketSteps, ...]) -> Bucket:
    """Return the smallest bucket that holds these steps, the largest where none does."""
    return next((bucket.bucket for bucket in buckets if bucket.max_steps >= steps), buckets[-1].bucket)
