"""Behaviour of `unmask.tune.exits`."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tune.traced import TASK, Behaviour, TracedBackend, make_runner
from unmask.policy.exit_rule import rule_faults
from unmask.strategy import StrategyChoice, StrategyName
from unmask.testing.learned import make_finality_model
from unmask.tune.exit_figures import ExitFigures, ItemOutcome, figures_of, misjudgement_bound
from unmask.tune.exit_rules import MOST_CANDIDATES, REFERENCE, THRESHOLDS, Setting, careful_rule, rules
from unmask.tune.exits import ExitSearch, MeasuredSetting, TunedExit, choose, exit_of, strategy_of, tune_exit

LOOSE = ExitSearch(items=40, calibrate_items=40, seed=0, misjudgement_limit=0.2, quality_limit=0.2)
HASTY = StrategyChoice(name=StrategyName.CONFIDENCE_THRESHOLD, threshold=0.9)


def tuned(folder: Path, behaviour: Behaviour, search: ExitSearch = LOOSE, *, ceiling: int = 8) -> TunedExit:
    """Tune the exit of a task type that behaves so."""
    runner = make_runner(folder, TracedBackend(behaviour, items=search.items))
    return asyncio.run(tune_exit(runner, TASK, ceiling, search, lambda _: None))


def outcome(**changes: Any) -> ItemOutcome:  # noqa: ANN401 - any field
    """Return an item that exited two steps before its own full run, right everywhere."""
    fields: dict[str, Any] = {
        "reference_steps": 8,
        "reference_correct": True,
        "full_steps": 4,
        "full_correct": True,
        "exited": True,
        "steps": 2,
        "correct": True,
    }
    return ItemOutcome(**(fields | changes))


def test_an_exit_that_is_right_is_enabled(tmp_path: Path) -> None:
    """Drafts that have settled are right: the rule saves steps on the tuning split, holds on the other, and is on."""
    found = tuned(tmp_path, Behaviour())

    assert found.chosen is not None
    assert found.chosen.rule is not None
    assert found.tested is not None
    assert (found.exit.rule, found.exit.enabled) == (found.chosen.rule, True)
    assert found.strategy == found.chosen.strategy
    assert (found.tested.exits, found.tested.misjudged, found.tested.items) == (40, 0, 40)
    assert found.tested.mean_steps < 4 < found.tested.reference_steps == 8


def test_no_more_than_twelve_settings_are_tried(tmp_path: Path) -> None:
    """Ours gets no more trials than a published rule, with a finality model or without."""
    for finality in (None, make_finality_model()):
        found = tuned(tmp_path, Behaviour(), replace(LOOSE, finality=finality))
        kinds = {entry.setting.strategy.name for entry in found.measured}
        assert 11 <= len(found.measured) <= MOST_CANDIDATES
        assert len({entry.setting.name for entry in found.measured}) == len(found.measured)
        assert (StrategyName.FINALITY in kinds) is (finality is not None)


def test_the_lowest_threshold_that_holds_is_found(tmp_path: Path) -> None:
    """By halving: four trials of fifteen thresholds, whichever of them it is."""
    for place in (0, 7, 14):
        backend = TracedBackend(Behaviour(wrong_below=THRESHOLDS[place]))
        runner = make_runner(tmp_path / str(place), backend)
        found = asyncio.run(tune_exit(runner, TASK, 8, LOOSE, lambda _: None))
        holds = [one.setting.strategy.threshold for one in found.measured if one.is_eligible]
        assert min(filter(None, holds)) == THRESHOLDS[place]


def test_an_exit_that_is_often_wrong_is_not_chosen(tmp_path: Path) -> None:
    """Half of the drafts look settled and are wrong: strategies alone remain, and a careful rule that observes."""
    found = tuned(tmp_path, Behaviour(early_wrong=2))

    assert found.chosen is not None
    assert found.chosen.rule is None
    assert (found.exit.enabled, found.exit.rule) == (False, careful_rule(8))
    assert any(entry.figures.misjudged == 20 for entry in found.measured)


def test_a_strategy_that_loses_quality_is_not_chosen(tmp_path: Path) -> None:
    """Then nothing is tested: the reference stays, and the careful rule observes."""
    found = tuned(tmp_path, Behaviour(hasty_wrong=2))

    assert (found.chosen, found.tested) == (None, None)
    assert (found.strategy, found.exit.enabled) == (REFERENCE, False)
    assert {entry.is_eligible for entry in found.measured} == {False}


def test_too_few_items_enable_nothing(tmp_path: Path) -> None:
    """Forty items without an error do not show a misjudgement of 1 %."""
    found = tuned(tmp_path, Behaviour(), replace(LOOSE, misjudgement_limit=0.01))

    assert not found.exit.enabled


def test_runs_are_made_once(tmp_path: Path) -> None:
    """A search that was killed goes on: what its log holds is not run again, and the result is the same."""
    first, again = TracedBackend(), TracedBackend()
    results = [
        asyncio.run(tune_exit(make_runner(tmp_path, backend), TASK, 8, LOOSE, lambda _: None))
        for backend in (first, again)
    ]

    assert results[0] == results[1]
    assert first.requests
    assert again.requests == []


def test_each_split_is_its_own(tmp_path: Path) -> None:
    """Only the chosen strategy and the reference are run on calibration items."""
    backend = TracedBackend()
    found = asyncio.run(tune_exit(make_runner(tmp_path, backend), TASK, 8, LOOSE, lambda _: None))
    calibrated = [request for request in backend.requests if backend.number(request) >= 40]

    assert found.chosen is not None
    assert {request.strategy for request in calibrated} == {REFERENCE, found.chosen.strategy}
    assert len(calibrated) == 80


@given(
    st.integers(0, 2000),
    st.integers(0, 60),
    st.floats(0.005, 0.2),
    st.booleans(),
)
def test_enabled_only_within_the_limit(exits: int, misjudged: int, limit: float, has_rule: bool) -> None:
    """Whatever a test says: only a tested rule is enabled, and the bound of its misjudgement is within the limit."""
    misjudged = min(exits, misjudged)
    tested = replace(SURE, exits=exits, misjudged=misjudged, bound=misjudgement_bound(misjudged, exits))
    search = replace(LOOSE, misjudgement_limit=limit)
    chosen = Setting(strategy=HASTY, rule=careful_rule(8) if has_rule else None)
    found = exit_of(chosen, tested, search, 8)

    assert not found.enabled or (has_rule and tested.bound <= limit)
    assert found.enabled or not has_rule or tested.bound > limit
    assert strategy_of(chosen, tested, search) == HASTY


SURE: ExitFigures = figures_of([outcome()] * 40, 0)


def test_a_test_that_fails_takes_the_strategy_back() -> None:
    """Quality that does not hold on other items leaves the reference, whatever the rule's misjudgement."""
    chosen = Setting(strategy=HASTY, rule=careful_rule(8))
    worse = figures_of([outcome(full_correct=False, correct=False)] * 20 + [outcome()] * 20, 0)

    assert strategy_of(chosen, worse, LOOSE) == REFERENCE
    assert not exit_of(chosen, worse, LOOSE, 8).enabled
    assert exit_of(chosen, SURE, LOOSE, 8).enabled


def test_the_fewest_steps_are_chosen() -> None:
    """Of the eligible ones; nothing where the reference takes no more."""
    few = figures_of([outcome(steps=1)] * 40, 0)
    slow = figures_of([outcome(steps=8, exited=False)] * 40, 0)
    one, other = Setting(strategy=HASTY), Setting(strategy=HASTY, rule=careful_rule(8), label="careful")
    entries = [
        MeasuredSetting(setting=one, figures=SURE, is_eligible=True),
        MeasuredSetting(setting=other, figures=few, is_eligible=False),
    ]

    assert choose(entries) == one
    assert choose([replace(entry, is_eligible=True) for entry in entries]) == other
    assert choose([MeasuredSetting(setting=one, figures=slow, is_eligible=True)]) is None


@pytest.mark.parametrize("ceiling", [1, 2, 32])
def test_rules_make_sense(ceiling: int) -> None:
    """Each combines two kinds and waits no longer than there are steps; one of them is patient."""
    found = [*rules(ceiling, None).values(), careful_rule(ceiling)]

    assert [fault for rule in found for fault in rule_faults(rule)] == []
    assert max(rule.patience for rule in found) == min(2, ceiling)
