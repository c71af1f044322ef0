"""Behaviour of `unmask.tune.tuned`."""

from dataclasses import replace

import pytest

from tests.control.values import BUCKETS, make_entry, make_model
from tests.tune.synthetic import items_of, runs_of
from unmask.stats import Interval, NotEnoughData
from unmask.strategy import StrategyChoice
from unmask.tasks.item import Split
from unmask.tune.difficulty import Recipe
from unmask.tune.errors import SplitError
from unmask.tune.item_runs import RunsError, RunSet
from unmask.tune.tuned import Splits, TaskTuned, realise, tune_all

RECIPE = Recipe(quantiles=(0.8,), trees=12, folds=3)
ENTRY = make_entry(alpha=0.05)


def splits(count: int = 300, **changes: RunSet) -> Splits:
    """Return runs of three splits."""
    fields = {
        "tune": runs_of(Split.TUNE, count),
        "calibrate": runs_of(Split.CALIBRATE, count),
        "test": runs_of(Split.TEST, count),
    }
    return Splits(**(fields | changes))


def test_whole_way_saves_steps_within_the_loss() -> None:
    """Trained, calibrated and tested: the realised loss is about what was promised, and steps are saved."""
    told: list[TaskTuned] = []
    (found,) = tune_all(splits(), [ENTRY], BUCKETS, recipe=RECIPE, least_items=300, done=told.append)

    assert told == [found]
    assert found.shift is not None
    assert found.realised is not None
    assert isinstance(found.realised.loss, Interval)
    assert isinstance(found.realised.saved, Interval)
    assert found.realised.loss.low <= 0.05
    assert found.realised.saved.low > 10
    assert (found.realised.n, found.realised.never_right) == (300, 0)


def test_without_enough_data_the_ceiling_stays() -> None:
    """There is a model, no shift and nothing on the test split: that is looked at for shifts only."""
    (found,) = tune_all(splits(), [ENTRY], BUCKETS, recipe=RECIPE)

    assert isinstance(found.calibration, NotEnoughData)
    assert (found.shift, found.realised) == (None, None)


def test_task_type_without_calibration_items_is_not_enough_data() -> None:
    """A task type that has tuning items alone stays at its ceiling."""
    other = runs_of(Split.CALIBRATE, 20, task="latin")
    (found,) = tune_all(splits(calibrate=other), [ENTRY], BUCKETS, recipe=RECIPE)

    assert found.calibration == NotEnoughData(n=0, reason="0 items, at least 1000 needed")


def test_splits_are_not_to_be_swapped() -> None:
    """Runs given for a split they are not of are refused."""
    with pytest.raises(SplitError, match="split tune, allowed: test"):
        splits(20, test=runs_of(Split.TUNE, 20))


def test_runs_of_other_models_are_refused() -> None:
    """What one model needs says nothing of another."""
    with pytest.raises(RunsError, match="model other, allowed: m"):
        splits(20, test=runs_of(Split.TEST, 20, model_digest="other"))
    with pytest.raises(RunsError, match="canvas length 16, allowed: 32"):
        splits(20, test=replace(runs_of(Split.TEST, 20), canvas_length=16))
    with pytest.raises(RunsError, match="strategies"):
        splits(20, test=replace(runs_of(Split.TEST, 20), strategy=StrategyChoice(threshold=0.5)))


def test_task_type_without_an_entry_is_refused() -> None:
    """Runs of a task type are never left out in silence."""
    with pytest.raises(RunsError, match="runs of sort, allowed: latin"):
        tune_all(splits(20), [make_entry("latin")], BUCKETS, recipe=RECIPE)


def test_loss_counts_only_what_the_ceiling_gets_right() -> None:
    """At the floor, items that need more are lost; those never right are told apart, and are in the steps."""
    items = items_of(Split.TEST, 200, hopeless=0.5)
    found = realise(items, make_model(base=0.0), ENTRY, BUCKETS, shift=0.0, seed=1)
    right = [item for item in items if item.at(32).correct]

    assert found.never_right == 200 - len(right)
    assert found.lost == sum(not item.at(2).correct for item in right)
    assert isinstance(found.loss, Interval)
    assert found.loss.estimate == found.lost / len(right)
    assert isinstance(found.steps, Interval)
    assert (found.steps.estimate, found.steps.low >= 0) == (2.0, True)
    assert isinstance(found.saved, Interval)
    assert found.saved.estimate == 30.0
