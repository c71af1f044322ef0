"""Behaviour of `unmask.bench.policy_targets` and `unmask.bench.policy_figures` on answers written down by hand."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import pytest

from tests.bench.looks import make_given, make_look
from unmask.bench.policy_figures import (
    BOOSTED,
    ESTIMATOR,
    KNEE,
    OURS,
    SATURATION,
    TYPE_SATURATION,
    arm_figures,
    grid_arm,
    paid_steps,
)
from unmask.bench.policy_look import Look, look_records
from unmask.bench.policy_targets import Judged, is_eligible, judge
from unmask.bench.policy_wall import Walls
from unmask.bench.report import MustReach, Op
from unmask.strategy import StrategyName

Numbers: TypeAlias = tuple[float | Sequence[float], float | Sequence[float]]

GRID = (1, 4, 16)
COUNT = 60
EVERY = [1.0] * COUNT
HALF = [float(number % 4 < 2) for number in range(COUNT)]
EASY = [float(number < 40) for number in range(COUNT)]
SPREAD = [15.0 + number % 3 for number in range(COUNT)]
FEW = [2.0 + number % 2 for number in range(COUNT)]

NAMES = (
    ("mean_steps_vs_saturation", Op.AT_MOST, 0.3),
    ("mean_steps_vs_type_saturation", Op.AT_MOST, 0.5),
    ("wall_vs_saturation", Op.AT_MOST, 0.5),
    ("quality_diff_lower_bound", Op.AT_LEAST, -0.01),
    ("worst_type_quality_diff_lower_bound", Op.AT_LEAST, -0.03),
    ("mean_steps_vs_best_published", Op.LESS, 1.0),
    ("mean_steps_vs_oracle", Op.AT_MOST, 1.2),
    ("estimator_share_of_saving", Op.AT_MOST, 0.01),
    ("hardest_third_quality_at_equal_steps", Op.ABOVE, 0.0),
)


def good_look(**changes: Numbers) -> Look:
    """Return a look in which ours reaches everything that 60 items can show; changed arms by name."""
    arms: dict[str, Numbers] = {
        SATURATION: (SPREAD, EVERY),
        TYPE_SATURATION: (SPREAD, EVERY),
        KNEE: (8.0, EVERY),
        ESTIMATOR: (4.0, EVERY),
        OURS: (FEW, EVERY),
        BOOSTED: (FEW, EVERY),
        **{str(rule): ([step + place for step in FEW], EVERY) for place, rule in enumerate(StrategyName, start=1)},
        grid_arm(1): (1.0, [0.0] * COUNT),
        grid_arm(4): (4.0, EASY),
        grid_arm(16): (SPREAD, EVERY),
    }
    return make_look(arms | changes)


def walls(ours: float = 0.2, estimating: float = 0.001) -> list[Walls]:
    """Return both batch sizes, the larger one worse by a tenth."""
    spread = np.linspace(0.98, 1.02, 40)
    return [
        Walls(batch=batch, saturation=spread, ours=ours * worse * spread[::-1], estimating=np.full(40, estimating))
        for batch, worse in ((1, 1.0), (16, 1.1))
    ]


def targets(judged: Judged) -> dict[str, MustReach]:
    """Return targets by name."""
    return {entry.name: entry for entry in judged.must_reach}


def judged(look: Look, timed: list[Walls] | None = None) -> dict[str, MustReach]:
    """Judge a look."""
    return targets(judge(look, timed or walls(), GRID, seed=0))


def test_every_target_is_there_with_its_side() -> None:
    """Names, sides and numbers are those that were promised, in their order."""
    found = judge(good_look(), walls(), GRID, seed=0)

    assert [(entry.name, entry.op, entry.target) for entry in found.must_reach] == list(NAMES)
    assert {entry.name for entry in found.must_reach} <= {figure.name for figure in found.figures}


def test_steps_are_ratios_of_means() -> None:
    """2.5 steps against 16."""
    found = judged(good_look())["mean_steps_vs_saturation"]

    assert found.value == pytest.approx(2.5 / 16)
    assert found.bound is not None
    assert found.value < found.bound < 0.3
    assert found.holds


def test_control_runs_are_paid() -> None:
    """With a tenth of requests run on to 4 steps, ours costs that much more, and the records do not change."""
    look = good_look()
    paying = replace(look, given=tuple(make_given(float(number), control=0.1) for number in range(COUNT)))

    assert paid_steps(paying, OURS).tolist() == pytest.approx([0.9 * step + 0.4 for step in FEW])
    assert paid_steps(paying, ESTIMATOR).tolist() == [4.0] * COUNT
    value = judged(paying)["mean_steps_vs_saturation"].value
    assert value == pytest.approx((0.9 * 2.5 + 0.4) / 16)
    assert [record.steps for record in look_records(paying)] == [record.steps for record in look_records(look)]


def test_wall_and_share_are_of_the_worse_batch() -> None:
    """Batch 16 is slower by a tenth here, so that it counts."""
    found = judged(good_look(), walls(ours=0.2, estimating=0.001))

    assert found["wall_vs_saturation"].value == pytest.approx(0.22)
    assert found["estimator_share_of_saving"].value == pytest.approx(0.001 / 0.78)
    assert found["wall_vs_saturation"].holds
    assert found["estimator_share_of_saving"].holds


def test_estimator_that_costs_too_much_is_a_miss() -> None:
    """A fiftieth of what is saved is more than a hundredth."""
    assert not judged(good_look(), walls(estimating=0.016))["estimator_share_of_saving"].holds


def test_nothing_saved_has_no_share() -> None:
    """Where ours takes longer the share would be negative and look small; it is inconclusive instead."""
    found = judged(good_look(), walls(ours=1.3))

    assert found["estimator_share_of_saving"].bound is None
    assert not found["wall_vs_saturation"].holds


def test_lost_quality_is_bounded_from_below() -> None:
    """Half of the answers lost is a difference of -0.5, whose lower end is lower still."""
    found = judged(good_look(**{OURS: (FEW, HALF)}))

    assert found["quality_diff_lower_bound"].value == pytest.approx(-0.5)
    assert found["quality_diff_lower_bound"].bound is not None
    assert found["quality_diff_lower_bound"].bound < -0.5
    assert not found["quality_diff_lower_bound"].holds


def test_worst_task_type_is_looked_for() -> None:
    """Losses in latin alone, the odd items, are latin's and not thinned by the other half."""
    lost = [0.0 if number % 4 == 1 else 1.0 for number in range(COUNT)]
    found = judge(good_look(**{OURS: (FEW, lost)}), walls(), GRID, seed=0)
    figure = next(entry for entry in found.figures if entry.name == "worst_type_quality_diff_lower_bound")

    assert figure.value == pytest.approx(-0.5)
    assert figure.note.startswith("latin")


def big_look(**rules: Numbers) -> Look:
    """Return a look at enough items for equal answers to be told equal within a point."""
    count = 800
    every: Numbers = (
        [2.0 + number % 2 for number in range(count)],
        1.0,
    )
    worse: Numbers = (2.0, [0.0, 1.0] * (count // 2))
    arms: dict[str, Numbers] = {
        **dict.fromkeys((SATURATION, TYPE_SATURATION, KNEE, ESTIMATOR, OURS, BOOSTED), every),
        **{str(rule): worse for rule in StrategyName},
        **{grid_arm(budget): (float(budget), 1.0) for budget in GRID},
    }
    return make_look(arms | rules, count)


def test_best_published_is_the_fastest_that_keeps_the_constraint() -> None:
    """A faster rule that is wrong half of the time is no opponent."""
    four: Numbers = ([4.0, 5.0] * 400, 1.0)
    found = judge(big_look(klass=four, prophet=([6.0, 7.0] * 400, 1.0)), walls(), GRID, seed=0)
    entry = targets(found)["mean_steps_vs_best_published"]
    eligible = {figure.name: figure.value for figure in found.figures if figure.name.endswith(".eligible")}

    assert entry.value == pytest.approx(2.5 / 4.5)
    assert entry.holds
    assert eligible == {
        "confidence_threshold.eligible": 0.0,
        "entropy_bound.eligible": 0.0,
        "klass.eligible": 1.0,
        "prophet.eligible": 1.0,
    }


def test_without_an_eligible_rule_the_comparison_is_inconclusive() -> None:
    """It has no bound and does not hold, though ours takes fewer steps than any."""
    look = big_look()
    entry = judged(look)["mean_steps_vs_best_published"]

    assert not is_eligible(look, StrategyName.KLASS, 0)
    assert (entry.bound, entry.holds) == (None, False)


def test_rule_that_loses_in_one_task_type_is_not_eligible() -> None:
    """Though it wins as much in another."""
    count = 4000
    sort_lost = [float(number % 20 != 0) for number in range(count)]
    latin_lost = [float(number % 20 != 1) for number in range(count)]
    look = make_look({SATURATION: (16.0, sort_lost), "klass": (2.0, latin_lost), "prophet": (2.0, sort_lost)}, count)

    assert not is_eligible(look, "klass", 0)
    assert is_eligible(look, "prophet", 0)


def test_equal_steps_are_no_win() -> None:
    """The bound has to be below 1, not at it."""
    assert not MustReach(name="f", value=1.0, bound=1.0, op=Op.LESS, target=1.0).holds
    assert not MustReach(name="f", value=0.0, bound=0.0, op=Op.ABOVE, target=0.0).holds


def test_oracle_speaks_for_items_right_at_the_ceiling() -> None:
    """Easy items need 4 steps, hard ones 15 to 17; items that are never right count nowhere."""
    never = [0.0] * 3 + [1.0] * (COUNT - 3)
    easy = [wrong * right for wrong, right in zip(never, EASY, strict=True)]
    found = judge(good_look(fixed_4=(4.0, easy), fixed_16=(SPREAD, never)), walls(), GRID, seed=0)
    figures = {figure.name: figure for figure in found.figures}

    assert figures["mean_steps_vs_oracle"].n == COUNT - 3
    oracle = (37 * 4.0 + sum(SPREAD[40:])) / (COUNT - 3)
    assert figures["oracle.mean_steps"].value == pytest.approx(oracle)
    assert figures["mean_steps_vs_oracle"].value == pytest.approx(np.mean(FEW[3:]) / oracle)
    assert figures[f"{OURS}.never_right.mean_steps"].n == 3


def test_hardest_third_is_compared_at_the_same_mean() -> None:
    """At 4 steps on average a fixed budget is right on the easy two thirds alone, ours on all."""
    found = judge(good_look(**{BOOSTED: (4.0, EVERY)}), walls(), GRID, seed=0)
    figures = {figure.name: figure for figure in found.figures}

    assert targets(found)["hardest_third_quality_at_equal_steps"].value == 1.0
    assert targets(found)["hardest_third_quality_at_equal_steps"].holds
    assert figures["fixed_at_freed_steps.mean_steps"].value == 4.0
    assert figures["fixed_at_freed_steps.quality"].value == pytest.approx(2 / 3)


def test_hardest_third_without_a_hard_item_is_inconclusive() -> None:
    """Where all items look alike no third is the hardest."""
    look = replace(good_look(), hardest=np.zeros(COUNT, dtype=np.bool_))

    assert judged(look)["hardest_third_quality_at_equal_steps"].bound is None


def test_more_steps_than_any_fixed_budget_is_inconclusive() -> None:
    """There is nothing to compare with at that mean."""
    assert judged(good_look(**{BOOSTED: (40.0, EVERY)}))["hardest_third_quality_at_equal_steps"].bound is None


def test_one_item_decides_nothing() -> None:
    """Every target that rests on items is inconclusive, none holds, and nothing breaks."""
    look = good_look()
    one = make_look({name: (float(arm.steps[0]), float(arm.correct[0])) for name, arm in look.arms.items()}, count=1)
    found = judged(one)

    by_items = [
        entry for name, entry in found.items() if name not in {"wall_vs_saturation", "estimator_share_of_saving"}
    ]
    assert [(entry.bound, entry.holds) for entry in by_items] == [(None, False)] * 7
    assert arm_figures(one, OURS, 0)


def test_arms_are_told_overall_by_type_and_for_the_hardest() -> None:
    """Steps, latency, tokens a step and quality, each with its interval, and the difference from saturation."""
    figures = {figure.name: figure for figure in arm_figures(good_look(**{OURS: (FEW, EASY)}), OURS, 0)}

    assert figures["estimator_exit.mean_steps"].value == pytest.approx(2.5)
    assert figures["estimator_exit.latency_p50"].value == pytest.approx(0.2)
    assert figures["estimator_exit.tpf"].value == pytest.approx(1.0)
    assert figures["estimator_exit.quality"].value == pytest.approx(2 / 3)
    assert figures["estimator_exit.hardest_third.quality"].value == 0.0
    assert figures["estimator_exit.hardest_third.diff_vs_saturation"].value == -1.0
    assert figures["estimator_exit.sort.quality"].n == figures["estimator_exit.latin.quality"].n == 30
    assert figures["estimator_exit.steps_vs_saturation"].value == pytest.approx(2.5 / 16)
