"""Trains a difficulty estimator: for each task type, the small model that serves what it is for.

What it is for is few steps at a bounded loss, not a small error of the score. So
several models are fitted, gradient boosting to different quantiles of log2 of the
fewest sufficient budget, and beside them a constant, which gives every request the
same. Each is judged by cross-validation: with its shift lowered as far as the loss
allows, how many steps are taken. The constant stays unless a model takes clearly
fewer.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.model_selection import KFold
from sklearn.tree._tree import Tree as SklearnTree

from unmask.control.difficulty import Difficulty, TaskModel
from unmask.control.features import Features
from unmask.control.forest import LEAF, Forest, Tree
from unmask.policy.policy import BucketSteps, TaskPolicy
from unmask.tune.item_runs import ItemRuns
from unmask.tune.shift import check_grid, count_lost, last_safe, runs_at, shifts

BINS = 5
LEAST_GAIN = 0.02
"""Share of the constant's steps that a model has to save; by using up the loss allowed even chance saves a little."""
MIN_TRAINED = 50
"""Items right at the ceiling below which there is nothing to learn from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How models are fitted and chosen.

    Attributes:
        quantiles: of the fewest sufficient budget, each a candidate.
        folds: parts of the cross-validation.
    """

    quantiles: tuple[float, ...] = (0.5, 0.7, 0.8, 0.9, 0.95)
    trees: int = 48
    depth: int = 3
    rate: float = 0.1
    folds: int = 5
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A model that might be taken: the quantile it was fitted to, ``None`` for the constant, and its mean steps."""

    quantile: float | None
    mean_steps: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """A task type's model and how it was found.

    Attributes:
        n: tuning items.
        never_right: items wrong at the ceiling: nothing is learnt from them.
        candidates: all that were judged, by cross-validated mean steps; empty where there was too little to choose by.
        chosen: which of them it is; ``None`` for the constant.
    """

    model: TaskModel
    n: int
    never_right: int
    candidates: tuple[Candidate, ...]
    chosen: float | None


def train_task(
    items: Sequence[ItemRuns], entry: TaskPolicy, buckets: tuple[BucketSteps, ...], recipe: Recipe
) -> Trained:
    """Train the model of one task type.

    Raises:
        RunsError: a budget that may be given is none that the items were run at.
    """
    check_grid(items, entry, buckets)
    learnt = [item for item in items if item.at(entry.ceiling).correct]
    candidates: tuple[Candidate, ...] = ()
    chosen: float | None = None
    if len(learnt) >= max(MIN_TRAINED, recipe.folds):
        candidates = tuple(
            Candidate(quantile=quantile, mean_steps=_judge(learnt, entry, buckets, recipe, quantile))
            for quantile in (None, *recipe.quantiles)
        )
        constant, *models = candidates
        best = min(models, key=lambda candidate: candidate.mean_steps)
        chosen = best.quantile if best.mean_steps < (1 - LEAST_GAIN) * constant.mean_steps else None
    return Trained(
        model=task_model(fit(learnt, entry, chosen, recipe), [item.features for item in items]),
        n=len(items),
        never_right=len(items) - len(learnt),
        candidates=candidates,
        chosen=chosen,
    )


def fit(learnt: Sequence[ItemRuns], entry: TaskPolicy, quantile: float | None, recipe: Recipe) -> Forest:
    """Fit one model to items that are right at the ceiling; without a quantile, their median as a constant."""
    targets = _targets(learnt, entry, recipe.seed)
    if quantile is None:
        return Forest(float(np.median(targets)) if learnt else math.log2(entry.ceiling), ())
    return export(boosted(learnt, targets, quantile, recipe))


def boosted(
    learnt: Sequence[ItemRuns], targets: npt.NDArray[np.float64], quantile: float, recipe: Recipe
) -> GradientBoostingRegressor:
    """Fit gradient boosting to a quantile of the targets, given the features of the items."""
    model = GradientBoostingRegressor(
        loss="quantile",
        alpha=quantile,
        n_estimators=recipe.trees,
        max_depth=recipe.depth,
        learning_rate=recipe.rate,
        min_samples_leaf=max(5, len(learnt) // 50),
        random_state=recipe.seed,
    )
    return model.fit(np.stack([item.features.vector for item in learnt]), targets)


def export(model: GradientBoostingRegressor) -> Forest:
    """Return what scikit-learn fitted as our own trees, which predict the same."""
    return Forest(
        float(np.ravel(model.init_.constant_)[0]),
        tuple(exported_tree(estimator.tree_, model.learning_rate) for estimator in model.estimators_[:, 0]),
    )


def exported_tree(fitted: SklearnTree, rate: float) -> Tree:
    """Return one fitted tree as ours, its leaves times the rate."""
    is_leaf = fitted.children_left < 0
    return Tree(
        feature=tuple(np.where(is_leaf, LEAF, fitted.feature).tolist()),
        threshold=tuple(np.where(is_leaf, 0.0, fitted.threshold).tolist()),
        below=tuple(np.where(is_leaf, 0, fitted.children_left).tolist()),
        above=tuple(np.where(is_leaf, 0, fitted.children_right).tolist()),
        value=tuple(np.where(is_leaf, rate * fitted.value[:, 0, 0], 0.0).tolist()),
    )


def _targets(learnt: Sequence[ItemRuns], entry: TaskPolicy, seed: int) -> npt.NDArray[np.float64]:
    """Return log2 of what each item needs, drawn evenly between the budget that is enough and the next smaller one.

    What it needs lies somewhere in between. Were all at the upper end, scores would bunch at the budgets of the grid,
    and a small change of the shift would move a bunch of items at once.
    """
    enough = [item.sufficient(entry.ceiling) for item in learnt]
    high = np.log2([max(budget or entry.ceiling, entry.floor) for budget in enough])
    low = np.log2([_below(item, 2.0**top) for item, top in zip(learnt, high, strict=True)])
    needed: npt.NDArray[np.float64] = high - np.random.default_rng(seed).random(len(learnt)) * (high - low)
    return needed


def _below(item: ItemRuns, budget: float) -> float:
    """Return the next smaller budget of an item's grid; half of the budget where there is none."""
    return max((smaller for smaller in item.budgets if smaller < budget), default=budget / 2)


def _judge(
    learnt: Sequence[ItemRuns],
    entry: TaskPolicy,
    buckets: tuple[BucketSteps, ...],
    recipe: Recipe,
    quantile: float | None,
) -> float:
    """Return the mean steps a model takes at the lowest shift that its loss allows, each item judged by another fold's.

    The loss is bounded as in calibration, so that models are compared where they will be used.
    """
    judged: list[tuple[ItemRuns, Difficulty]] = []
    for trained, held_out in KFold(recipe.folds, shuffle=True, random_state=recipe.seed).split(learnt):
        forest = fit([learnt[index] for index in trained], entry, quantile, recipe)
        judged += [(learnt[index], _sure(forest.predict(learnt[index].features.values))) for index in held_out]
    scores = [found.score for _, found in judged]
    tried = tuple(shifts(entry, min(scores), max(scores)))
    counts = (count_lost(judged, entry, buckets, shift) for shift in tried)
    taken, _ = last_safe(counts, len(judged), entry.alpha)
    return float(np.mean([run.steps for run in runs_at(judged, entry, buckets, tried[len(taken) - 1])]))


def _sure(score: float) -> Difficulty:
    return Difficulty(score=score, bin=0, confidence=1.0)


def task_model(forest: Forest, features: Sequence[Features]) -> TaskModel:
    """Return a forest as the model of a task type: with the ranges and score bins of what it was trained on."""
    rows = np.stack([one.vector for one in features])
    scores = [forest.predict(one.values) for one in features]
    edges = np.quantile(scores, np.arange(1, BINS) / BINS, method="inverted_cdf")
    return TaskModel(
        forest=forest,
        ranges=tuple(zip(rows.min(axis=0).tolist(), rows.max(axis=0).tolist(), strict=True)),
        bins=tuple(sorted(set(edges.tolist()))),
    )
