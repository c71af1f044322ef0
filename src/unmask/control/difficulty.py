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

from unmask.control.features import FEATURES, Features
from unmask.control.forest import Forest
from unmask.policy.policy import BucketSteps, TaskPolicy

LEAST_CONFIDENCE = 0.9
"""Below this a request gets its ceiling: a feature lies a tenth of the trained range outside of it."""

_UNRANGED = frozenset({"max_tokens"})
"""A limit on the answer makes no request harder, and tuning runs all have the same."""


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

    def is_sure(self, task_confidence: float = 1.0) -> bool:
        """Whether the score is to be relied on, given how sure the task type is: 1 where the caller named it."""
        return self.confidence * task_confidence >= LEAST_CONFIDENCE


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


def steps_for(score: float | None, entry: TaskPolicy, buckets: tuple[BucketSteps, ...]) -> int:
    """Return the steps that an adaptive task type's policy gives a score: one rule for serving and for calibration.

    They are those of the smallest bucket that holds ``2 ** (score + shift)``, within floor and ceiling.

    Args:
        score: log2 of the steps of a canvas; ``None`` where there is no estimate or none to rely on, which may need
            anything, and gets the ceiling.
        entry: the task type's policy.
        buckets: the policy's, the smallest first.
    """
    if score is None:
        return entry.ceiling
    # No bucket needs more than its ceiling; without this, a large score would overflow.
    needed = 2.0 ** min(score + entry.shift, 62.0)
    steps = next((bucket.max_steps for bucket in buckets if bucket.max_steps >= needed), entry.ceiling)
    return min(max(steps, entry.floor), entry.ceiling)
