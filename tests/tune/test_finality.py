"""Behaviour of `unmask.tune.finality` and what it rests on."""

import asyncio
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.neural_network import MLPClassifier

from tests.tune.traced import ASKING, TASK, Behaviour, TracedBackend
from unmask.policy.finality import FEATURES, score
from unmask.policy.finality_file import finality_bytes, read_finality
from unmask.stats import Interval
from unmask.tune.errors import ExitRunError
from unmask.tune.finality import train_finality
from unmask.tune.finality_fit import fit_finality
from unmask.tune.finality_judge import auc, item_losses, judge_finality
from unmask.tune.finality_rows import FinalityRows, collect_rows
from unmask.tune.items import draw_items

AGE = FEATURES.index("age")


def synthetic(items: int = 60, rows: int = 30, *, seed: int = 0) -> FinalityRows:
    """Return rows whose tokens are final by their age more than by their confidence."""
    rng = np.random.default_rng(seed)
    found = rng.normal(size=(items * rows, len(FEATURES)))
    odds = 0.5 * found[:, 0] + 3.0 * found[:, AGE]
    return FinalityRows(
        found=found,
        final=rng.random(len(odds)) < 1 / (1 + np.exp(-odds)),
        item=np.repeat(np.arange(items), rows),
        hasty=np.tile(np.arange(rows) % 2 == 0, items),
    )


def collected(behaviour: Behaviour, count: int = 6) -> FinalityRows:
    """Return the rows of a few items."""
    backend = TracedBackend(behaviour)
    return asyncio.run(collect_rows(backend, ASKING, draw_items(TASK, count, 0), {TASK: 4}, in_flight=3))


def test_rows_are_candidates_and_the_full_runs_end() -> None:
    """A full run of four steps and two hasty ones of two: a draft is final once it has settled."""
    rows = collected(Behaviour(hasty_steps=2))

    # Full: 4, 3, 2, 1 open positions; hasty: 4, 2 each. The first drafts are wrong where they fix nothing.
    assert len(rows.final) == 6 * (10 + 2 * 6)
    assert rows.hasty.sum() == 6 * 12
    assert rows.final.sum() == 6 * (10 - 2 + 2 * (6 - 1))
    assert set(rows.item) == set(range(6))
    assert rows.weights.sum() == pytest.approx(len(rows.final))


@pytest.mark.parametrize("canvases", [1, 2])
def test_runs_that_have_strayed_say_nothing(canvases: int) -> None:
    """A hasty run fixes another token at its first step: what it does then, and in later canvases, has no truth."""
    rows = collected(Behaviour(hasty_steps=4, strays=True, canvases=canvases))

    assert rows.hasty.sum() == 6 * 2 * 4
    assert (~rows.hasty).sum() == 6 * 10 * canvases


def test_every_item_counts_the_same() -> None:
    """However many rows it has."""
    rows = synthetic(items=3, rows=4).of(np.arange(12) > 2)

    sums = [rows.weights[rows.item == item].sum() for item in range(3)]
    assert sums == pytest.approx([3.0] * 3)


def test_nothing_to_decide_is_said() -> None:
    """So is a set of tokens that are all final."""
    rows = synthetic(2, 10)
    with pytest.raises(ExitRunError, match="20 of 20 draft tokens are final"):
        fit_finality(replace(rows, final=np.ones_like(rows.final)), 0, 0)
    with pytest.raises(ExitRunError, match="at least 20"):
        train_finality(synthetic(items=5), seed=0)


@pytest.mark.parametrize("units", [0, 4])
def test_what_is_written_scores_as_it_was_fitted(units: int) -> None:
    """Scikit-learn's probabilities, to the digits that are kept; the file gives the same model."""
    rows = synthetic()
    model = fit_finality(rows, units, 3)

    assert read_finality(finality_bytes(model)) == model == fit_finality(rows, units, 3)
    assert len(model.hidden) == units
    if units:
        values = (rows.found - np.array(model.centre)) / np.array(model.scale)
        fitted = MLPClassifier((units,), solver="lbfgs", alpha=1e-3, max_iter=400, random_state=3)
        fitted.fit(values, rows.final, sample_weight=rows.weights)
        chance = fitted.predict_proba(values)[:, 1]
        np.testing.assert_allclose(1 / (1 + np.exp(-score(model, rows.found))), chance, atol=2e-3)


def test_what_tells_more_than_confidence_is_found() -> None:
    """The score beats confidence on items of its own, by log loss and AUC, and its probabilities are what they say."""
    trained = train_finality(synthetic(items=100, rows=16), seed=0)
    judged = trained.judgement

    assert isinstance(judged.log_loss_gain, Interval)
    assert isinstance(judged.auc_gain, Interval)
    assert judged.log_loss_gain.low > 0
    assert judged.auc_gain.low > 0
    assert trained.chosen == min(trained.candidates, key=lambda one: one.log_loss)
    assert trained.trained_on + 2 * judged.items == 100
    assert sum(found.share for found in judged.bins) == pytest.approx(1)
    assert all(abs(found.predicted - found.final) < 0.3 for found in judged.bins)


def test_skill_is_what_scikit_learn_says() -> None:
    """Log loss and AUC, ties and weights included."""
    rows = synthetic(items=12)
    odds = rows.found[:, 0].round(1)
    weights = np.random.default_rng(0).random(len(odds))

    assert auc(odds, rows.final, weights) == pytest.approx(roc_auc_score(rows.final, odds, sample_weight=weights))
    assert item_losses(odds, rows).mean() == pytest.approx(log_loss(rows.final, 1 / (1 + np.exp(-odds))))
    assert np.isnan(auc(odds, np.ones(len(odds), dtype=bool), weights))


def test_few_items_have_no_interval() -> None:
    """Nor have tokens that are all final an AUC."""
    rows = synthetic(items=4)
    model = fit_finality(rows, 0, 0)
    few = judge_finality(model, model, rows, seed=0)

    assert not isinstance(few.model.auc, Interval)
    assert not isinstance(few.log_loss_gain, Interval)
