"""Behaviour of `unmask.tune.item_runs`."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest

from tests.tune.synthetic import curves_of, digests, items_of, runs_of
from unmask.control.features import FEATURES
from unmask.tasks.item import Split
from unmask.tasks.registry import all_tasks
from unmask.tune.errors import CurveFileError
from unmask.tune.item_runs import ItemRuns, Run, item_features, runs_from
from unmask.tune.items import draw_items
from unmask.types import Message


def item(*correct: bool) -> ItemRuns:
    """Return an item that is right at the budgets told, of 1, 2, 4 and so on."""
    (found,) = items_of(Split.TUNE, 1)
    runs = tuple(Run(budget=2**power, correct=right, steps=1) for power, right in enumerate(correct))
    return replace(found, runs=runs)


def count(messages: Sequence[Message]) -> int:
    """Count characters."""
    return sum(len(message.content) for message in messages)


def test_runs_of_a_task_type() -> None:
    """Items are told apart by task type, in the order of their first ones."""
    runs = runs_of(Split.TUNE, 5)

    assert runs.tasks == ("sort",)
    assert runs.of("sort") == runs.items
    assert runs.of("latin") == ()


def test_curves_become_runs_with_the_features_of_requests() -> None:
    """Items are drawn again, and known as the server knows a request; each has its own results."""
    curves = curves_of(Split.CALIBRATE, 6)
    runs = runs_from(curves, count, 77)
    drawn = draw_items("sort", 6, 0, Split.CALIBRATE)

    assert (runs.split, runs.model_digest, runs.strategy) == (
        Split.CALIBRATE,
        curves.settings.model_digest,
        curves.settings.strategy,
    )
    for place, (one, found) in enumerate(zip(drawn, runs.items, strict=True)):
        assert found.item == one.digest
        assert found.budgets == curves.settings.grid
        assert (found.features["prompt_tokens"], found.features["max_tokens"]) == (count(one.messages), 77)
        assert [run.correct for run in found.runs] == curves.curves[0].correct[:, place].tolist()
        assert [run.steps for run in found.runs] == list(curves.settings.grid)


def test_items_that_are_drawn_otherwise_now_are_refused() -> None:
    """Their features would be those of other prompts than were measured."""
    curves = curves_of(Split.TUNE, 4)
    other = replace(curves, settings=replace(curves.settings, seed=5))

    with pytest.raises(CurveFileError, match="measure it anew"):
        runs_from(other, count, 77)


def test_sufficient_is_right_from_there_on() -> None:
    """Right by chance at a small budget and wrong at a larger one is not enough; above the ceiling nothing counts."""
    assert item(True, True, True).sufficient(4) == 1
    assert item(True, False, True).sufficient(4) == 4
    assert item(True, False, False).sufficient(4) is None
    assert item(False, True, True, False).sufficient(4) == 2
    assert item(False, True).at(2).correct
    with pytest.raises(KeyError):
        item(True).at(8)


def test_generated_items_have_features() -> None:
    """What is known of an item before its first step is what is known of a request."""
    drawn = all_tasks()["latin"].generate(Random(2), Split.TUNE)
    features = item_features(drawn, prompt_tokens=30, max_tokens=95)

    assert features.task == "latin"
    assert features["blanks"] == drawn.difficulty["blanks"]
    assert (features["prompt_tokens"], features["format"]) == (30, 0)
    assert len(features.values) == len(FEATURES)
    assert next(digests(Split.TUNE, 0)) != next(digests(Split.TEST, 0))
