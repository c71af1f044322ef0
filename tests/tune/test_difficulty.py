"""Behaviour of `unmask.tune.difficulty`."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.control.values import BUCKETS, make_entry
from tests.tune.synthetic import items_of, runs_of
from unmask.control.features import FEATURES, Features
from unmask.tasks.item import Split
from unmask.tune.difficulty import Recipe, boosted, export, fit, train_task
from unmask.tune.item_runs import RunsError

RECIPE = Recipe(quantiles=(0.5, 0.9), trees=20, rate=0.3, folds=3)
ENTRY = make_entry(alpha=0.05)


@settings(max_examples=20, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 20),
    st.integers(1, 5),
    st.sampled_from([0.1, 0.5, 0.9]),
    st.sampled_from([0.03, 0.1, 1.0]),
)
def test_export_predicts_what_scikit_learn_predicts(
    seed: int, trees: int, depth: int, quantile: float, rate: float
) -> None:
    """To the last bit, on the rows trained on and on others."""
    rng = np.random.default_rng(seed)
    items = runs_of(Split.TUNE, 60, seed=seed % 100).items
    recipe = Recipe(trees=trees, depth=depth, rate=rate, seed=seed % 100)
    model = boosted(items, rng.normal(size=len(items)), quantile, recipe)
    others = [Features(task="sort", values=tuple(rng.integers(0, 20, len(FEATURES)).tolist())) for _ in range(40)]
    rows = [item.features for item in items] + others
    forest = export(model)

    assert [forest.predict(row.values) for row in rows] == model.predict(
        np.stack([row.vector for row in rows])
    ).tolist()


def test_model_learns_what_makes_items_hard() -> None:
    """Scores follow the feature that difficulty comes from, and the shares of bins are about even."""
    items = runs_of(Split.TUNE, 600).items
    trained = train_task(items, ENTRY, BUCKETS, RECIPE)
    found = [trained.model.difficulty(item.features) for item in items]
    easy, hard = (
        np.mean([one.score for one, item in zip(found, items, strict=True) if item.features["digits"] in digits])
        for digits in (range(5), range(12, 17))
    )

    assert hard - easy > 1.5
    assert trained.chosen is not None
    assert {one.bin for one in found} == {0, 1, 2, 3, 4}
    assert {one.confidence for one in found} == {1.0}
    assert (trained.n, trained.never_right) == (600, 0)


def test_constant_stays_where_nothing_can_be_told() -> None:
    """Every item needs the same: no model takes fewer steps than one budget for all."""
    items = [
        replace(item, runs=tuple(replace(run, correct=run.budget >= 4) for run in item.runs))
        for item in items_of(Split.TUNE, 1500)
        if item.features["digits"] in {8, 9}
    ]
    trained = train_task(items, ENTRY, BUCKETS, RECIPE)

    assert trained.chosen is None
    assert trained.model.forest.trees == ()
    assert {round(candidate.mean_steps) for candidate in trained.candidates} == {4}


def test_models_are_judged_by_steps() -> None:
    """The candidate taken has the fewest steps, and fewer than one budget for all."""
    trained = train_task(runs_of(Split.TUNE, 600).items, ENTRY, BUCKETS, RECIPE)
    steps = {candidate.quantile: candidate.mean_steps for candidate in trained.candidates}

    assert steps[trained.chosen] == min(steps.values()) < 0.9 * steps[None]
    assert set(steps) == {None, 0.5, 0.9}


def test_items_never_right_are_told_and_not_learnt_from() -> None:
    """With nothing right at the ceiling there is a constant, and every item in the count."""
    items = items_of(Split.TUNE, 80, hopeless=1.0)
    trained = train_task(items, ENTRY, BUCKETS, RECIPE)

    assert (trained.n, trained.never_right) == (80, 80)
    assert trained.candidates == ()
    assert trained.model.forest.predict(items[0].features.values) == 5.0


def test_same_seed_gives_the_same_model() -> None:
    """Training is reproducible, and the seed reaches it."""
    items = runs_of(Split.TUNE, 200).items
    first, again, other = (fit(items, ENTRY, 0.9, Recipe(trees=5, seed=seed)).trees for seed in (1, 1, 2))

    assert first == again != other


def test_budget_that_was_never_run_is_refused() -> None:
    """Nothing is learnt about budgets between those of the runs."""
    with pytest.raises(RunsError, match="12"):
        train_task(runs_of(Split.TUNE, 20).items, make_entry(ceiling=12), BUCKETS, RECIPE)
