"""Behaviour of what tuning items settle: published rules, freed steps, the oracle, fixed budgets, how many items."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.bench.looks import make_given, make_item
from unmask.bench.fixed_budgets import fixed_budgets, read_fixed_budgets
from unmask.bench.freed_steps import boosted, choose_factor, hardest_third, quality_at_mean
from unmask.bench.oracle import find_oracle
from unmask.bench.policy_items import (
    LEAST,
    MOST,
    drifted_items,
    items_needed,
    look_items,
    sorted_against,
    tuning_items,
)
from unmask.bench.published import RULES, Candidate, choose, label_of, settings_of
from unmask.bench.trial import Setup
from unmask.bench.tuning_run import Tuned
from unmask.strategy import StrategyChoice, StrategyName
from unmask.tasks.item import Split, split_of
from unmask.tasks.registry import all_tasks
from unmask.testing.builders import make_model
from unmask.testing.curves import make_curves, make_shares
from unmask.tune.curve_file import write_curves
from unmask.tune.errors import CurveFileError, ForeignCurvesError

COUNT = 400
RULE = StrategyName.KLASS


def answers(wrong: int, steps: float) -> Tuned:
    """Return answers of which so many are wrong."""
    return Tuned(correct=np.arange(COUNT) >= wrong, steps=np.full(COUNT, steps))


def candidate(budget: int, wrong: int, steps: float) -> Candidate:
    """Return a setting with its answers."""
    return Candidate(setup=Setup(max_steps=budget), answers=answers(wrong, steps))


def chosen(candidates: Sequence[Candidate]) -> tuple[int, bool]:
    """Choose among settings against a saturation that is always right."""
    found = choose(RULE, {"sort": candidates}, {"sort": answers(0, 16.0)}, seed=0)
    return found.setups["sort"].max_steps, found.meets


def test_fewest_steps_under_the_constraint_win() -> None:
    """The fastest is wrong too often, the most accurate too slow."""
    assert chosen([candidate(1, 100, 1.0), candidate(2, 0, 3.0), candidate(3, 0, 9.0)]) == (2, True)


def test_without_a_setting_that_keeps_the_constraint_the_most_accurate_is_taken() -> None:
    """And it is said that none does."""
    assert chosen([candidate(1, 100, 1.0), candidate(2, 80, 3.0), candidate(3, 90, 9.0)]) == (2, False)


def test_task_types_share_what_may_be_lost() -> None:
    """Two points lost in one type alone are too many over all, so that the safer setting is taken there."""
    found = choose(
        RULE,
        {"sort": [candidate(1, 4, 1.0), candidate(2, 0, 2.0)], "latin": [candidate(3, 4, 5.0), candidate(4, 0, 6.0)]},
        {"sort": answers(0, 16.0), "latin": answers(0, 16.0)},
        seed=0,
    )

    assert {task: setup.max_steps for task, setup in found.setups.items()} == {"sort": 2, "latin": 4}
    assert found.meets


def test_gain_in_one_task_type_pays_no_loss_in_another() -> None:
    """Two points lost in latin may be more than three, however much is won in sorting."""
    found = choose(
        RULE,
        {"sort": [candidate(1, 0, 1.0)], "latin": [candidate(2, 8, 1.0), candidate(3, 0, 9.0)]},
        {"sort": answers(40, 16.0), "latin": answers(0, 16.0)},
        seed=0,
    )

    assert found.setups["latin"].max_steps == 3
    assert found.meets


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_is_tried_at_twelve_settings_or_more(rule: StrategyName) -> None:
    """All differ, in their names as in a journal too; no more steps than a canvas has."""
    setups = settings_of(rule, 32)

    assert len(set(setups)) == len({label_of(setup) for setup in setups}) == len(setups) >= 12
    assert {setup.strategy.name for setup in setups} == {rule}
    assert max(setup.max_steps for setup in setups) == 32
    assert len(settings_of(rule, 32, few=True)) == 2


def test_splits_stay_apart() -> None:
    """Nothing that is tuned on is looked at; types take turns, and the drifted mixture is of the test split too."""
    tuning, looked, drifted = tuning_items(3, 5), look_items(3, 5), drifted_items(3, 20)

    assert {split_of(item.canonical) for item in tuning} == {Split.TUNE}
    assert {split_of(item.canonical) for item in (*looked, *drifted)} == {Split.TEST}
    assert [item.task for item in looked] == list(all_tasks()) * 5
    assert not {item.digest for item in tuning} & {item.digest for item in (*looked, *drifted)}
    assert len({item.digest for item in drifted}) == 20


def test_drift_turns_shares_around() -> None:
    """The most frequent becomes the rarest."""
    assert sorted_against([0.2, 0.5, 0.3]) == [0.5, 0.2, 0.3]


def test_items_follow_from_discordance() -> None:
    """A margin of a point at a discordance of 10 % needs 7,850; a type's 3 points count six times; ends hold."""
    assert items_needed(0.10, 0.0, 1) == 7850
    assert items_needed(0.0, 0.15, 6) == round(0.15 * 7.85 / 0.03**2 + 0.5)
    assert items_needed(0.0, 0.0, 6) == LEAST / 6
    assert items_needed(0.9, 0.9, 6) == MOST / 6


def test_oracle_takes_the_least_budget_that_stays_right() -> None:
    """Right, wrong and right again needs the later budget; steps are those taken there, not the budget."""
    correct = np.array([[True, True, False, False], [True, False, True, True], [True, True, True, False]])
    steps = np.array([[1.0, 1, 1, 1], [3, 4, 4, 4], [5, 7, 8, 8]])
    found = find_oracle((1, 4, 8), correct, steps)

    assert found.right.tolist() == [True, True, True, False]
    assert found.budgets.tolist() == [1, 8, 4, 0]
    assert found.steps.tolist() == [1.0, 7.0, 4.0, 0.0]


def test_fixed_budgets_are_landmarks_of_each_type_and_of_all() -> None:
    """Types count alike in the pooled curve."""
    grid = (1, 2, 4, 8)
    easy, steep = (
        make_shares(row, task=task, grid=grid) for task, row in (("a", [1, 1, 1, 1]), ("b", [0, 0.5, 0.9, 1]))
    )
    found = fixed_budgets([easy, steep], "somewhere")

    assert found.type_saturation == {"a": 1, "b": 8}
    assert found.type_knee == {"a": 1, "b": 8}
    assert (found.saturation, found.knee) == (8, 8)


def test_curves_are_taken_where_they_fit(tmp_path: Path) -> None:
    """The usual file may be absent or of other weights; one that was named may not."""
    model, path = make_model(tasks=("sort",), canvas_lengths=(16,), default_canvas_length=16), tmp_path / "c.json"
    assert read_fixed_budgets(None, path, model) is None
    with pytest.raises(CurveFileError):
        read_fixed_budgets(path, path, model)
    write_curves(path, make_curves(make_shares([0.2, 0.5, 1], grid=(1, 4, 16)), model_digest=model.digest))

    found = read_fixed_budgets(None, path, model)
    assert found is not None
    assert (found.saturation, found.source) == (16, "curves of 2026-01-01T00:00:00+00:00, 1000 items a task type")
    other = make_model(tasks=("sort",), canvas_lengths=(16,), default_canvas_length=16, digest="other")
    assert read_fixed_budgets(None, path, other) is None
    with pytest.raises(ForeignCurvesError):
        read_fixed_budgets(path, path, other)


def test_curves_of_a_strategy_say_nothing_of_plain_steps(tmp_path: Path) -> None:
    """A threshold ends canvases early, so that its budgets are no fixed ones."""
    model = make_model(tasks=("sort",), canvas_lengths=(16,), default_canvas_length=16)
    curves = make_curves(
        make_shares([0.2, 0.5, 1], grid=(1, 4, 16)),
        model_digest=model.digest,
        strategy=StrategyChoice(name=StrategyName.CONFIDENCE_THRESHOLD),
    )
    write_curves(tmp_path / "c.json", curves)

    assert read_fixed_budgets(None, tmp_path / "c.json", model) is None


def test_hardest_third_is_by_estimate_alone() -> None:
    """Of nine items three are marked; of nine alike none."""
    items = [make_item(number, "sort") for number in range(9)]

    marks = hardest_third(items, [make_given(float(number % 4)) for number in range(9)])
    assert marks.sum() == 3
    assert marks[[3, 7]].all()
    assert not hardest_third(items, [make_given() for _ in items]).any()
    assert not hardest_third([], []).any()


def test_boosted_items_run_on_within_caps() -> None:
    """More steps, no exit, and never more than a canvas has."""
    assert boosted(make_given(steps=4), 1.5, 32) == Setup(max_steps=6)
    assert boosted(make_given(steps=8), 8.0, 32) == Setup(max_steps=32)


def test_as_much_is_given_as_the_fixed_budget_takes() -> None:
    """Two easy items at 2 steps leave 8 of 12 for the hard one."""
    ours, hard = np.array([2.0, 2.0, 3.0]), np.array([False, False, True])
    boosts = {1.0: np.array([5.0]), 2.0: np.array([8.0]), 3.0: np.array([9.0])}

    assert choose_factor(ours, hard, boosts, 4.0) == 2.0
    assert choose_factor(ours, hard, boosts, 1.0) is None


def test_quality_at_a_mean_lies_between_its_neighbours() -> None:
    """3 steps on average are half of 2 and half of 4."""
    steps, correct = np.array([[2.0, 2.0], [4.0, 4.0]]), np.array([[0.0, 1.0], [1.0, 1.0]])

    def at(mean: float) -> list[float] | None:
        found = quality_at_mean(steps, correct, mean)
        return None if found is None else found.tolist()

    assert at(3.0) == [0.5, 1.0]
    assert at(2.0) == at(1.0) == [0.0, 1.0]
    assert at(4.0) == [1.0, 1.0]
    assert at(4.1) is None
