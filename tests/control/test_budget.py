"""Behaviour of `unmask.control.budget`."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.backend import Request
from unmask.control.asked import Asked
from unmask.control.budget import Assignment, BudgetSource, assign
from unmask.control.quality import LEVELS, QualityLevel
from unmask.control.sources import ActivePolicy, Estimate
from unmask.errors import InvalidRequestError
from unmask.policy.policy import AtCap, BucketSteps, BudgetMode, Preference
from unmask.service import ClassTerms
from unmask.strategy import StrategyChoice, StrategyName
from unmask.testing.budget_policies import RULE, make_class_policy, make_exit, make_task_policy
from unmask.testing.builders import make_model
from unmask.testing.policies import DIGEST, make_active
from unmask.types import Bucket, ExitPlan, Message, Mode, Role, StepBudget

MODEL = make_model(default_canvas_length=32, default_steps=32, max_steps=64, canvas_lengths=(8, 16, 32))
ASK = Request(model="tiny", messages=(Message(role=Role.USER, content="sort 3 , 1"),))
SORT = make_task_policy("sort", mode=BudgetMode.ADAPTIVE, floor=4, default=8, ceiling=30, exit=make_exit(enabled=True))
CLASSES = (make_class_policy(max_steps=16), make_class_policy("batch", prefers=Preference.QUALITY, max_steps=32))


def give(
    active: ActivePolicy | None = None,
    *,
    task: str = "sort",
    estimate: Estimate | None = None,
    request: Request = ASK,
    model: Any = MODEL,  # noqa: ANN401 - a model
    **asked: Any,  # noqa: ANN401 - any field of what was asked
) -> Assignment:
    """Assign, under a policy of the task type sort unless there is another."""
    return assign(active or make_active(SORT), request, Asked(**asked), model, task=task, estimate=estimate)


def looks(score: float, *, is_sure: bool = True) -> Estimate:
    """Return an estimate of so many steps in powers of two."""
    return Estimate(score=score, bin=1, is_sure=is_sure)


def steps(assignment: Assignment) -> int:
    """Return the steps of a canvas that were assigned."""
    assert assignment.budget is not None
    return assignment.budget.max_steps


def asking(**changes: Any) -> Request:  # noqa: ANN401 - any field
    """Return a request of other fields."""
    return Request(**({"model": "tiny", "messages": ASK.messages} | changes))


@given(
    budget=st.none() | st.builds(StepBudget, max_steps=st.integers(1, 64), max_total_steps=st.none() | st.integers(1)),
    bucket=st.none() | st.sampled_from(Bucket),
    score=st.floats(-9, 9),
)
def test_without_a_policy_everything_is_as_asked(
    budget: StepBudget | None, bucket: Bucket | None, score: float
) -> None:
    """The client's budget or the model's default, and no exit, whatever anybody thinks of the request."""
    request = asking(budget=budget)
    found = assign(None, request, Asked(bucket=bucket), MODEL, task="sort", estimate=looks(score))

    assert (found.budget, found.strategy, found.bucket) == (budget, request.strategy, bucket)
    assert (found.rule, found.exit, found.policy, found.policy_name) == (None, None, None, "fixed")
    assert not found.fails_at_cap


@pytest.mark.parametrize(
    ("asked", "source"),
    [
        ({}, BudgetSource.MODEL),
        ({"max_steps": 4}, BudgetSource.CLIENT),
        ({"bucket": Bucket.S}, BudgetSource.EFFORT),
    ],
)
def test_fixed_budget_says_whose_it_is(asked: dict[str, Any], source: BudgetSource) -> None:
    """The model's unless the client named one."""
    assert assign(None, ASK, Asked(**asked), MODEL, task="sort", estimate=None).source is source


def test_service_class_needs_a_policy() -> None:
    """Naming a class where there are none is refused, as is one that the policy has not."""
    with pytest.raises(InvalidRequestError, match="allowed: null"):
        assign(None, ASK, Asked(service_class="batch"), MODEL, task="sort", estimate=None)
    with pytest.raises(InvalidRequestError, match="allowed: interactive, batch") as caught:
        give(service_class="bulk")

    assert caught.value.param == "diffusion.service_class"


POLICIES = st.builds(
    lambda sizes, cap, prefers, mode, shift: make_active(
        make_task_policy("sort", mode=mode, floor=sizes[0], default=sizes[1], ceiling=sizes[2], shift=shift),
        classes=(make_class_policy(max_steps=max(cap, sizes[0]), prefers=prefers),),
    ),
    sizes=st.lists(st.integers(1, 32), min_size=3, max_size=3).map(sorted),
    cap=st.integers(1, 64),
    prefers=st.sampled_from(Preference),
    mode=st.sampled_from(BudgetMode),
    shift=st.floats(-3, 3),
)
ESTIMATES = st.none() | st.builds(Estimate, score=st.floats(-1e3, 1e3), bin=st.integers(0, 9), is_sure=st.booleans())


@given(active=POLICIES, estimate=ESTIMATES)
def test_assigned_steps_lie_between_floor_and_ceiling_and_under_the_cap(
    active: ActivePolicy, estimate: Estimate | None
) -> None:
    """Whatever the estimate says."""
    entry, service_class = active.policy.task("sort"), active.policy.classes[0]
    found = steps(give(active, estimate=estimate))

    assert min(entry.floor, service_class.max_steps) <= found <= min(entry.ceiling, service_class.max_steps)


@given(active=POLICIES, estimate=ESTIMATES, wanted=st.integers(1, 64), total=st.none() | st.integers(1, 500))
def test_clients_cap_is_never_exceeded(
    active: ActivePolicy, estimate: Estimate | None, wanted: int, total: int | None
) -> None:
    """Steps that the client names are the budget, or refused where its class has not as many."""
    request = asking(budget=StepBudget(max_steps=wanted, max_total_steps=total))
    cap = active.policy.classes[0].max_steps
    try:
        found = give(active, estimate=estimate, request=request, max_steps=wanted)
    except InvalidRequestError:
        assert wanted > cap
        return

    assert found.budget == StepBudget(max_steps=wanted, max_total_steps=total)
    assert wanted <= cap
    assert found.source is BudgetSource.CLIENT


@pytest.mark.parametrize(
    ("score", "deadline", "quality"),
    [(1.0, 4, 8), (3.0, 8, 8), (3.1, 16, 16), (4.0, 16, 16), (9, 16, 30)],
)
def test_estimate_gives_the_smallest_bucket_that_holds_it(score: float, deadline: int, quality: int) -> None:
    """That is what calibration vouches for; quality is never below the default."""
    assert steps(give(estimate=looks(score))) == deadline
    assert steps(give(estimate=looks(score), service_class="batch")) == quality


def test_shift_is_added_to_the_estimate() -> None:
    """A step of log2 doubles."""
    shifted = make_active(make_task_policy("sort", mode=BudgetMode.ADAPTIVE, floor=2, default=4, ceiling=32, shift=1.0))

    assert steps(give(shifted, estimate=looks(2.0))) == 8


def test_unsure_estimate_gets_the_ceiling() -> None:
    """What the estimator has seen nothing like may need anything, whatever the class prefers."""
    for service_class, ceiling in (("batch", 30), ("interactive", 16)):
        assert steps(give(estimate=looks(2.0, is_sure=False), service_class=service_class)) == ceiling
        assert steps(give(estimate=None, service_class=service_class)) == ceiling


def test_fixed_task_type_takes_its_default() -> None:
    """Difficulty does not matter, but travels with the request."""
    found = give(make_active(make_task_policy("sort", default=10)), estimate=looks(4.0))

    assert (steps(found), found.source, found.estimate) == (10, BudgetSource.TASK, looks(4.0))


def test_unknown_task_type_takes_the_default_entry_and_no_exit() -> None:
    """What nobody has measured has a fixed budget and runs to its end, even if a default entry had a rule."""
    unsafe = make_active(SORT, tasks=(make_task_policy(exit=make_exit(enabled=True)),))
    found = give(unsafe, task="haiku")

    assert (steps(found), found.task, found.rule, found.exit) == (8, "haiku", None, None)


@pytest.mark.parametrize(("bucket", "given"), [(Bucket.XS, 2), (Bucket.M, 8), (Bucket.L, 16), (Bucket.XL, 16)])
def test_effort_is_a_bucket_of_the_policy(bucket: Bucket, given: int) -> None:
    """A word means the policy's steps, and the most there is means the most that the class allows."""
    found = give(bucket=bucket, request=asking(budget=StepBudget(max_steps=24)), estimate=looks(5.0))

    assert (steps(found), found.source) == (given, BudgetSource.EFFORT)


def test_effort_without_a_bucket_stays_a_share() -> None:
    """A policy need not have all tiers."""
    few = make_active(SORT, buckets=(BucketSteps(bucket=Bucket.M, max_steps=8),))
    found = give(few, bucket=Bucket.S, request=asking(budget=StepBudget(max_steps=6)))

    assert (steps(found), found.bucket) == (6, Bucket.M)


def test_above_the_cap_of_the_class_is_refused_under_the_clients_name() -> None:
    """As above the model's own limit."""
    request = asking(budget=StepBudget(max_steps=20))
    with pytest.raises(InvalidRequestError, match=r"allowed: 1 to 16\. The service class interactive") as caught:
        give(request=request, max_steps=20, max_steps_field="num_denoising_steps")

    assert caught.value.param == "num_denoising_steps"
    assert steps(give(request=request, max_steps=20, service_class="batch")) == 20


def test_total_is_capped_by_the_class() -> None:
    """A client's is refused above the cap; without one it is what canvases may take, and no more than the cap."""
    capped = make_active(make_task_policy("sort"), classes=(make_class_policy(max_steps=16, max_total_steps=20),))
    with pytest.raises(InvalidRequestError, match="1 to 20") as caught:
        give(capped, request=asking(budget=StepBudget(max_steps=8, max_total_steps=21)))
    lower = give(capped, request=asking(budget=StepBudget(max_steps=8, max_total_steps=9)))

    assert caught.value.param == "diffusion.max_total_steps"
    assert lower.budget == StepBudget(max_steps=8, max_total_steps=9)
    assert give(capped, request=asking(max_tokens=32)).budget == StepBudget(max_steps=8, max_total_steps=8)
    assert give(capped, request=asking(max_tokens=33)).budget == StepBudget(max_steps=8, max_total_steps=16)
    assert give(capped).budget == StepBudget(max_steps=8, max_total_steps=16)
    assert give(capped, request=asking(max_tokens=256)).budget == StepBudget(max_steps=8, max_total_steps=20)
    # The first canvas may be shorter there, and then there is one more.
    on_grid = give(capped, request=asking(max_tokens=32), model=replace(MODEL, on_grid=True))
    assert on_grid.budget == StepBudget(max_steps=8, max_total_steps=16)


def test_total_alone_leaves_the_canvas_to_the_policy() -> None:
    """It is the client's, and the steps of a canvas are not."""
    request = asking(budget=StepBudget(max_steps=16, max_total_steps=9))

    assert give(make_active(make_task_policy("sort")), request=request).budget == StepBudget(
        max_steps=8, max_total_steps=9
    )


def test_short_canvas_takes_no_more_steps_than_it_has_positions() -> None:
    """As without a policy."""
    assert steps(give(request=asking(canvas_length=8), estimate=looks(5.0), service_class="batch")) == 8


def test_policy_sets_strategy_and_exit() -> None:
    """Both were tuned together."""
    tuned = StrategyChoice(name=StrategyName.KLASS, threshold=0.9)
    found = give(make_active(make_task_policy("sort", strategy=tuned, exit=make_exit(enabled=True))))

    assert (found.strategy, found.exit, found.rule) == (tuned, ExitPlan(rule=RULE), RULE)
    assert (found.policy, found.policy_name) == (DIGEST, DIGEST[:12])


@pytest.mark.parametrize(
    ("mine", "applies"),
    [
        (StrategyChoice(name=StrategyName.KLASS, threshold=0.9), True),
        (StrategyChoice(name=StrategyName.KLASS, threshold=0.8), False),
        (StrategyChoice(name=StrategyName.PROPHET), False),
        (StrategyChoice(), False),
    ],
)
def test_clients_strategy_keeps_off_exits_tuned_for_another(mine: StrategyChoice, applies: bool) -> None:
    """The client's strategy is taken as it is; a rule applies where it was tuned for just this one."""
    tuned = StrategyChoice(name=StrategyName.KLASS, threshold=0.9)
    active = make_active(make_task_policy("sort", strategy=tuned, exit=make_exit(enabled=True)))
    found = give(active, request=asking(strategy=mine), has_strategy=True)

    assert found.strategy == mine
    assert (found.exit is not None, found.rule is not None) == (applies, applies)


def test_exit_may_be_switched_off() -> None:
    """By the client, and for what is no canvas."""
    assert give(early_exit=False).rule is None
    assert give(request=asking(mode=Mode.AUTOREGRESSIVE)).rule is None
    assert give().exit == ExitPlan(rule=RULE)


def test_rule_that_is_not_enabled_stops_nothing() -> None:
    """It may be observed all the same."""
    found = give(make_active(make_task_policy("sort", exit=make_exit(enabled=False))))

    assert (found.exit, found.rule) == (None, RULE)


@pytest.mark.parametrize("at_cap", AtCap)
def test_class_says_what_a_spent_budget_means(at_cap: AtCap) -> None:
    """It is truncated or failed."""
    found = give(make_active(SORT, classes=(make_class_policy(max_steps=16, at_cap=at_cap),)))

    assert found.fails_at_cap is (at_cap is AtCap.FAIL)


LATE = (make_class_policy(deadline_s=5.0, smaller_bucket=True), make_class_policy("batch", max_steps=32))


def smaller(given: Assignment) -> list[tuple[Bucket, int]]:
    """Return the budgets that may take the place of what was given."""
    return [(entry.bucket, entry.max_steps) for entry in given.smaller]


def test_a_class_may_give_smaller_buckets_down_to_the_floor() -> None:
    """Largest first, none below what the task type needs; nothing where the class refuses late requests instead."""
    given = give(make_active(SORT, classes=LATE), estimate=looks(4.0))

    assert steps(given) == 16
    assert smaller(given) == [(Bucket.M, 8), (Bucket.S, 4)]
    assert smaller(give(make_active(SORT, classes=LATE), estimate=looks(4.0), service_class="batch")) == []


@pytest.mark.parametrize("asked", [{"max_steps": 16}, {"bucket": Bucket.L}])
def test_what_the_client_names_is_never_made_smaller(asked: dict[str, Any]) -> None:
    """It gets that budget, or a refusal."""
    request = asking(budget=StepBudget(max_steps=16))

    assert smaller(give(make_active(SORT, classes=LATE), request=request, **asked)) == []


def test_a_request_goes_by_its_classs_terms() -> None:
    """Somebody waits for a class that prefers its deadline; without a policy all are alike."""
    classes = (
        make_class_policy(deadline_s=5.0, weight=8.0),
        make_class_policy("batch", prefers=Preference.QUALITY, min_share=0.1),
    )
    active = make_active(SORT, classes=classes)

    assert give(active).terms == ClassTerms(name="interactive", weight=8.0, deadline_s=5.0, is_interactive=True)
    assert give(active, service_class="batch").terms == ClassTerms(name="batch", min_share=0.1)
    assert assign(None, ASK, Asked(), MODEL, task="sort", estimate=None).terms == ClassTerms()


LOWEST = LEVELS[-1]


def test_the_lowest_level_takes_the_next_smaller_bucket() -> None:
    """Of an estimate and of a task type's default; its bucket and what else may be given instead go with it."""
    classes = (make_class_policy(deadline_s=9.0, smaller_bucket=True),)
    estimated, default = (
        assign(make_active(SORT, classes=classes), ASK, Asked(), MODEL, task="sort", estimate=estimate, level=LOWEST)
        for estimate in (looks(4.0), None)
    )

    assert (steps(estimated), estimated.bucket, estimated.level) == (8, Bucket.M, 4)
    assert [entry.max_steps for entry in estimated.smaller] == [4]
    assert steps(default) == 16


@given(score=st.floats(-9, 9), level=st.sampled_from(LEVELS), most=st.integers(1, 64))
def test_no_level_goes_below_what_was_calibrated(score: float, level: QualityLevel, most: int) -> None:
    """The floor of the task type holds; no budget grows, and only the lowest level changes any."""
    active = make_active(SORT, classes=(make_class_policy(max_steps=most),))
    full = assign(active, ASK, Asked(), MODEL, task="sort", estimate=looks(score))
    found = assign(active, ASK, Asked(), MODEL, task="sort", estimate=looks(score), level=level)

    assert min(steps(full), SORT.floor) <= steps(found) <= steps(full)
    assert level.smaller_bucket or replace(found, level=0) == full


@pytest.mark.parametrize("asked", [{"max_steps": 16}, {"bucket": Bucket.L}])
def test_what_the_client_names_is_what_it_gets_at_any_level(asked: dict[str, Any]) -> None:
    """Steps, or a word for them."""
    found = assign(make_active(SORT), ASK, Asked(**asked), MODEL, task="sort", estimate=looks(1.0), level=LOWEST)

    assert steps(found) == 16
