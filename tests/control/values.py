"""Entries of policies, features and models with every field filled in, of which a test names only what it is about."""

from dataclasses import replace
from typing import Any

from unmask.control.difficulty import TaskModel
from unmask.control.features import FEATURES, Features
from unmask.control.forest import LEAF, Forest, Tree
from unmask.policy.policy import BucketSteps, BudgetMode, TaskPolicy
from unmask.types import Bucket

BUCKETS = tuple(
    BucketSteps(bucket=bucket, max_steps=steps) for bucket, steps in zip(Bucket, (2, 4, 8, 16, 32), strict=True)
)


def make_entry(task: str = "sort", **changes: Any) -> TaskPolicy:  # noqa: ANN401 - any field of the entry
    """Return a task type's policy, by difficulty between 1 and 32 steps."""
    entry = TaskPolicy(
        task=task,
        mode=BudgetMode.ADAPTIVE,
        floor=1,
        default=8,
        ceiling=32,
        strategy=None,
        exit=None,
        alpha=0.02,
        shift=0.0,
    )
    return replace(entry, **changes)


def make_features(task: str = "sort", **values: float) -> Features:
    """Return features that are 0 but for those named."""
    return Features(task=task, values=tuple(values.get(name, 0) for name in FEATURES))


def stump(feature: str, threshold: float, below: float, above: float) -> Tree:
    """Return a tree of one question."""
    return Tree(
        feature=(FEATURES.index(feature), LEAF, LEAF),
        threshold=(threshold, 0.0, 0.0),
        below=(1, 0, 0),
        above=(2, 0, 0),
        value=(0.0, below, above),
    )


def make_model(*trees: Tree, base: float = 0.0, bins: tuple[float, ...] = (1.0, 2.0)) -> TaskModel:
    """Return a model that has seen values from 0 to 100 of every feature."""
    return TaskModel(forest=Forest(base, trees), ranges=((0.0, 100.0),) * len(FEATURES), bins=bins)
