"""A proposal takes its numbers from the curves, and says so."""

import io
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from unmask.errors import UnmaskError
from unmask.policy.policy import DEFAULT_TASK, BucketSteps, BudgetMode, ExitPolicy, Policy, Preference
from unmask.strategy import StrategyChoice, StrategyName
from unmask.tasks.item import Split
from unmask.testing.builders import make_model
from unmask.testing.curves import make_curve, make_curves, make_shares
from unmask.tune.advise import advise
from unmask.tune.curve import CurveSet
from unmask.tune.errors import ForeignCurvesError, SplitError
from unmask.tune.propose import Calibrated, CalibratedTask, Extras, Proposal, proposal_table, propose
from unmask.tune.task_strategy import TaskStrategy
from unmask.types import Bucket, ExitCondition, ExitRule, ProgressSignal

GRID = (1, 2, 4, 8, 16)
MODEL = make_model("tiny")
STEEP = make_shares((0.1, 0.5, 0.8, 0.9, 0.97), grid=GRID, items=300)
FLAT = make_shares((0.95, 0.95, 0.96, 0.96, 0.96), grid=GRID, items=300, task="latin")
EXIT = ExitPolicy(
    rule=ExitRule(
        conditions=(
            ExitCondition(signal=ProgressSignal.FLIPS, bound=0.0),
            ExitCondition(signal=ProgressSignal.CONFIDENCE_MIN, bound=0.9),
        )
    ),
    enabled=False,
    misjudgement_limit=0.01,
)


KLASS = StrategyChoice(name=StrategyName.KLASS)


def proposed(curves: CurveSet, extras: Extras | None = None) -> Proposal:
    """Return a proposal with the advice that its curves give."""
    return propose(curves, MODEL, advise(curves), extras)


def calibrated(**tasks: CalibratedTask) -> Calibrated:
    """Return an estimator that is calibrated with a bucket for each point of the grid."""
    buckets = tuple(BucketSteps(bucket=bucket, max_steps=step) for bucket, step in zip(Bucket, GRID, strict=True))
    return Calibrated(digest="feedface", model_digest=MODEL.digest, buckets=buckets, tasks=tasks)


def budgets(policy: Policy, task: str) -> tuple[int, int, int]:
    """Return floor, default and ceiling of a task type."""
    entry = policy.task(task)
    return entry.floor, entry.default, entry.ceiling


def test_budgets_are_the_landmarks() -> None:
    """Floor above collapse, default at the knee, ceiling at saturation; all of them are buckets."""
    policy = proposed(make_curves(STEEP, FLAT)).policy

    assert budgets(policy, "sort") == (8, 16, 16)
    assert budgets(policy, "latin") == (1, 1, 1)
    steps = [bucket.max_steps for bucket in policy.buckets]
    assert steps == sorted(steps)
    assert {1, 8, 16} <= set(steps)


def test_it_names_the_weights() -> None:
    """Name and digest of the model served, and the strategy that was measured."""
    policy = proposed(make_curves(STEEP)).policy

    assert (policy.model, policy.model_digest) == ("tiny", MODEL.digest)
    assert policy.task("sort").strategy == make_curves(STEEP).settings.strategy


def test_what_is_not_known_gets_the_largest_budget() -> None:
    """Unseen task types, too few items, and a task type that is mostly wrong whatever its budget."""
    wrong = make_shares((0.0, 0.0, 0.1, 0.2, 0.4), grid=GRID, items=300)
    few = make_curve(*("1" * 20 for _ in GRID), grid=GRID)
    for curve in (wrong, few):
        policy = proposed(make_curves(curve)).policy
        assert budgets(policy, "sort") == (16, 16, 16)
    default = policy.task("a task type of tomorrow")
    assert (default.task, default.mode, default.exit) == (DEFAULT_TASK, BudgetMode.FIXED, None)
    assert budgets(policy, DEFAULT_TASK) == (16, 16, 16)


def test_one_item_gives_a_safe_policy() -> None:
    """A workload of one item decides nothing, and the proposal says so."""
    proposal = proposed(make_curves(make_curve(*("1" for _ in GRID), grid=GRID)))

    assert budgets(proposal.policy, "sort") == (16, 16, 16)
    assert any("1 items, at least 100 needed" in source.source for source in proposal.sources)


def test_it_starts_on_the_careful_side() -> None:
    """No exit, all fixed, no cap below the largest budget, and young controls above one in twenty."""
    policy = proposed(make_curves(STEEP, FLAT)).policy

    assert policy.difficulty is None
    assert all(task.exit is None and task.mode is BudgetMode.FIXED and task.shift == 0 for task in policy.tasks)
    assert [(entry.name, entry.prefers, entry.max_steps) for entry in policy.classes] == [
        ("interactive", Preference.DEADLINE, 16),
        ("batch", Preference.QUALITY, 16),
    ]
    assert policy.control.young_fraction >= 0.05


def test_adaptive_needs_advice_and_a_calibrated_estimator() -> None:
    """With both the task type is adaptive, with the shift it was calibrated to; without the latter it is fixed."""
    count = 1000
    easy = [place % 10 < 7 for place in range(count)]
    row = "".join("1" if right else "0" for right in easy)
    curve = make_curve(row, row, row, row, "1" * count, grid=GRID)
    curves = make_curves(curve)
    entry = proposed(curves).policy.task("sort")
    safe = CalibratedTask(strategy=StrategyChoice(), shift=0.5, floor=entry.floor, ceiling=entry.ceiling, alpha=0.01)

    alone, other, both = (
        proposed(curves, extras).policy
        for extras in (None, Extras(difficulty=calibrated()), Extras(difficulty=calibrated(sort=safe)))
    )
    assert [policy.task("sort").mode for policy in (alone, other, both)] == ["fixed", "fixed", "adaptive"]
    assert [policy.difficulty for policy in (alone, other, both)] == [None, None, "feedface"]
    assert both.task("sort").shift == 0.5


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"ceiling": 8}, "other budgets"),
        ({"floor": 2}, "other budgets"),
        ({"alpha": 0.05}, "may lose 0.05"),
    ],
)
def test_a_shift_holds_for_what_it_was_calibrated_for(change: dict[str, Any], reason: str) -> None:
    """Other limits or a larger loss: the task type stays fixed, and the proposal says why."""
    count = 1000
    row = "".join("1" if place % 10 < 7 else "0" for place in range(count))
    curves = make_curves(make_curve(row, row, row, row, "1" * count, grid=GRID))
    entry = proposed(curves).policy.task("sort")
    safe = CalibratedTask(strategy=StrategyChoice(), shift=0.5, floor=entry.floor, ceiling=entry.ceiling, alpha=0.01)
    proposal = proposed(curves, Extras(difficulty=calibrated(sort=replace(safe, **change))))
    other = proposed(curves, Extras(difficulty=calibrated(sort=replace(safe, strategy=KLASS))))

    own = proposed(
        replace(curves, settings=replace(curves.settings, own=(TaskStrategy(task="sort", strategy=KLASS),))),
        Extras(difficulty=calibrated(sort=replace(safe, strategy=KLASS))),
    )

    assert proposal.policy.task("sort").mode is BudgetMode.FIXED
    assert (own.policy.task("sort").mode, own.policy.task("sort").strategy) == (BudgetMode.ADAPTIVE, KLASS)
    assert any(reason in source.source for source in proposal.sources)
    assert any("estimator is for klass" in source.source for source in other.sources)


def test_what_was_tuned_on_something_else_is_refused() -> None:
    """An estimator of other weights, an exit without a curve, curves of items that nothing is chosen on."""
    strange = replace(calibrated(), model_digest="ffff")
    with pytest.raises(ForeignCurvesError, match="estimator is of weights ffff"):
        proposed(make_curves(STEEP), Extras(difficulty=strange))
    with pytest.raises(UnmaskError, match="exits for latin, allowed: sort"):
        proposed(make_curves(STEEP), Extras(exits={"latin": EXIT}))
    with pytest.raises(SplitError, match="of the split test, allowed: tune"):
        propose(make_curves(STEEP, split=Split.TEST), MODEL, ())
    with pytest.raises(SplitError):
        advise(make_curves(STEEP, split=Split.CALIBRATE))


def test_a_tuned_exit_is_taken_as_it_is() -> None:
    """An exit that only observes stays one."""
    assert proposed(make_curves(STEEP), Extras(exits={"sort": EXIT})).policy.task("sort").exit == EXIT


def test_curves_of_another_model_are_refused() -> None:
    """Another digest, or another canvas than requests get."""
    with pytest.raises(ForeignCurvesError, match="ffff"):
        propose(make_curves(STEEP), make_model(digest="ffff"), ())
    with pytest.raises(ForeignCurvesError, match="canvases of 8"):
        propose(make_curves(STEEP, canvas_length=8), MODEL, ())


def test_every_number_says_where_it_is_from() -> None:
    """Three budgets, a mode and an exit a task type, and what is common to all."""
    proposal = proposed(make_curves(STEEP, FLAT))
    places = [source.place for source in proposal.sources]
    console = Console(file=io.StringIO(), width=160)
    console.print(proposal_table(proposal))
    assert isinstance(console.file, io.StringIO)

    for task in ("sort", "latin"):
        assert {f"{task}.{name}" for name in ("floor", "default", "ceiling", "mode", "exit")} <= set(places)
    assert {DEFAULT_TASK, "buckets", "class interactive", "class batch", "control"} <= set(places)
    assert "next above collapse, 8 (" in console.file.getvalue()


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(st.floats(0, 1), min_size=5, max_size=5), min_size=1, max_size=4))
def test_budgets_are_ordered_and_buckets(shares: list[list[float]]) -> None:
    """Whatever was measured: floor <= default <= ceiling, each a bucket, none beyond the grid."""
    tasks = ("arithmetic", "sort", "latin", "lookup")
    curves = make_curves(
        *(make_shares(row, items=120, grid=GRID, task=task) for row, task in zip(shares, tasks, strict=False))
    )
    policy = propose(curves, MODEL, ()).policy
    steps = {bucket.max_steps for bucket in policy.buckets}

    for task in policy.tasks:
        assert task.floor <= task.default <= task.ceiling
        assert {task.floor, task.default, task.ceiling} <= steps
    assert max(steps) == GRID[-1]
