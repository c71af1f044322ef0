"""Behaviour of `unmask.policy.rules`: fields that contradict each other."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from tests.policy.drawn import EXAMPLES, policies
from unmask.errors import ConfigError
from unmask.policy.policy import BucketSteps, BudgetMode, ControlPolicy, Policy, PrecisionPolicy, SearchPolicy
from unmask.policy.rules import check_policy
from unmask.service import SearchMethod
from unmask.strategy import StrategyChoice, StrategyName
from unmask.testing.budget_policies import make_class_policy, make_exit, make_policy, make_task_policy
from unmask.types import Bucket, ExitCondition, ExitRule, LearnedExit, Precision, ProgressSignal


def task(**changes: Any) -> Policy:  # noqa: ANN401 - any field of the task
    """Return a policy whose second task type has these fields."""
    return make_policy(tasks=(make_task_policy(), make_task_policy("sort", **changes)))


def rule(*conditions: tuple[ProgressSignal, float], **changes: Any) -> Policy:  # noqa: ANN401 - any field of the rule
    """Return a policy with an exit of these conditions."""
    made = tuple(ExitCondition(signal=signal, bound=bound) for signal, bound in conditions)
    return task(exit=make_exit(rule=ExitRule(conditions=made, **changes)))


def learned(*weights: tuple[ProgressSignal, float]) -> LearnedExit:
    """Return a learned score of these signals."""
    return LearnedExit(version="0" * 16, bias=0.0, weights=weights, threshold=0.9)


def control(**changes: Any) -> Policy:  # noqa: ANN401 - any field of the control
    """Return a policy with an enabled exit and these control runs."""
    fields: dict[str, Any] = {"fraction": 0.02, "young_fraction": 0.05, "young_until": 381}
    enabled = task(exit=make_exit(enabled=True))
    return replace(enabled, control=ControlPolicy(**(fields | changes)))


FLIPS, MIN, FORMAT, KL = (
    ProgressSignal.FLIPS,
    ProgressSignal.CONFIDENCE_MIN,
    ProgressSignal.FORMAT,
    ProgressSignal.KL,
)


def searched(**changes: Any) -> Policy:  # noqa: ANN401 - any field of the search
    """Return a policy whose class searches its second task type so."""
    fields: dict[str, Any] = {"task": "sort", "method": SearchMethod.CANDIDATES, "width": 4}
    search = SearchPolicy(**(fields | changes))
    return replace(make_policy(), classes=(make_class_policy(searches=(search,)),))


REFUSED: tuple[tuple[str, Policy, str, str], ...] = (
    ("search of none", searched(task="latin"), "classes.interactive.searches.latin", "default, sort"),
    (
        "search without a method",
        searched(method=SearchMethod.NONE),
        "classes.interactive.searches.sort.method",
        "candidates, breadth",
    ),
    (
        "search from nowhere",
        replace(
            searched(from_bucket=Bucket.XS), buckets=tuple(one for one in make_policy().buckets if one.max_steps > 2)
        ),
        "classes.interactive.searches.sort.from_bucket",
        "S, M, L, XL",
    ),
    ("no buckets", make_policy(buckets=()), "buckets", "at least one"),
    (
        "buckets that stay",
        make_policy(buckets=(BucketSteps(bucket=Bucket.S, max_steps=32), BucketSteps(bucket=Bucket.M, max_steps=32))),
        "buckets.M",
        "is 32, allowed: more than buckets.S, which is 32",
    ),
    (
        "buckets out of order",
        make_policy(buckets=(BucketSteps(bucket=Bucket.M, max_steps=1), BucketSteps(bucket=Bucket.S, max_steps=32))),
        "buckets.S",
        "more than buckets.M",
    ),
    (
        "a bucket twice",
        make_policy(buckets=(BucketSteps(bucket=Bucket.M, max_steps=1), BucketSteps(bucket=Bucket.M, max_steps=32))),
        "buckets",
        "each name once",
    ),
    ("a task twice", make_policy(tasks=(make_task_policy(), make_task_policy())), "tasks", "'default'"),
    ("a class twice", make_policy(classes=(make_class_policy(), make_class_policy())), "classes", "'interactive'"),
    ("no default task", make_policy(tasks=(make_task_policy("sort"),)), "tasks", "default among them"),
    ("no default class", make_policy(default_class="batch"), "default_class", "'batch', allowed: interactive"),
    ("floor over default", task(floor=9), "tasks.sort.default", "is 8, allowed: at least tasks.sort.floor, which is 9"),
    ("default over ceiling", task(default=17), "tasks.sort.ceiling", "at least tasks.sort.default, which is 17"),
    ("ceiling over buckets", task(ceiling=33), "tasks.sort.ceiling", "at most the largest bucket, which is 32"),
    (
        "cap under a floor",
        make_policy(classes=(make_class_policy(max_steps=1),)),
        "classes.interactive.max_steps",
        "is 1, allowed: at least tasks.default.floor, which is 2",
    ),
    (
        "total under the cap",
        make_policy(classes=(make_class_policy(max_total_steps=31),)),
        "classes.interactive.max_total_steps",
        "at least classes.interactive.max_steps, which is 32",
    ),
    (
        "attempts that grow by nothing",
        make_policy(classes=(make_class_policy(re_expansion_factor=1.0),)),
        "classes.interactive.re_expansion_factor",
        "above 1",
    ),
    (
        "more promised than there may be",
        make_policy(classes=(make_class_policy(min_share=0.5, max_share=0.4),)),
        "classes.interactive.min_share",
        "is 0.5, allowed: at most classes.interactive.max_share, which is 0.4",
    ),
    (
        "more promised than there is",
        make_policy(classes=(make_class_policy(min_share=0.6), make_class_policy("batch", min_share=0.5))),
        "classes",
        "at most 1 together",
    ),
    (
        "a smaller bucket without a deadline",
        make_policy(classes=(make_class_policy(smaller_bucket=True),)),
        "classes.interactive.smaller_bucket",
        "with classes.interactive.deadline_s",
    ),
    ("one kind of signal", rule((MIN, 0.9)), "tasks.sort.exit", "at least 2 of change, confidence, format"),
    ("two signals of one kind", rule((FLIPS, 0.0), (KL, 0.1)), "tasks.sort.exit", "is 'change'"),
    ("no signal", rule(), "tasks.sort.exit", "is 'none'"),
    (
        "a signal twice",
        rule((FLIPS, 0.0), (FLIPS, 0.1), (MIN, 1.0)),
        "tasks.sort.exit.conditions.flips",
        "one condition a signal",
    ),
    (
        "a weight twice",
        rule((FLIPS, 0.0), learned=learned((MIN, 1.0), (MIN, 2.0))),
        "tasks.sort.exit.learned.weights.confidence_min",
        "one weight a signal",
    ),
    (
        "a score of nothing",
        rule((FLIPS, 0.0), (MIN, 1.0), learned=learned()),
        "tasks.sort.exit.learned.weights",
        "at least one signal",
    ),
    ("half a format", rule((FORMAT, 0.5), (MIN, 1.0)), "tasks.sort.exit.conditions.format", "allowed: 1."),
    ("a share above 1", rule((FLIPS, 0.0), (MIN, 1.1)), "tasks.sort.exit.conditions.confidence_min", "0 to 1"),
    ("a negative divergence", rule((KL, -0.1), (MIN, 1.0)), "tasks.sort.exit.conditions.kl", "a number from 0"),
    ("endless patience", rule((FLIPS, 0.0), (MIN, 1.0), patience=17), "tasks.sort.exit.patience", "which is 16"),
    ("an exit past the end", rule((FLIPS, 0.0), (MIN, 1.0), min_steps=17), "tasks.sort.exit.min_steps", "never exits"),
    (
        "a probability above 1",
        task(strategy=StrategyChoice(name=StrategyName.KLASS, threshold=1.5)),
        "tasks.sort.strategy.threshold",
        "from 0 to 1",
    ),
    (
        "finality of no strategy",
        task(finality="0" * 16),
        "tasks.sort.finality",
        "none unless tasks.sort.strategy is finality",
    ),
    (
        "a strategy without its model",
        task(strategy=StrategyChoice(name=StrategyName.FINALITY)),
        "tasks.sort.finality",
        "the digest of a learned part",
    ),
    (
        "precisions of no class",
        task(precision=(PrecisionPolicy(service_class="night", normal=Precision.INT8),)),
        "tasks.sort.precision",
        "'night', allowed: interactive",
    ),
    (
        "precisions of a class twice",
        task(precision=(PrecisionPolicy(service_class="interactive", normal=Precision.INT8),) * 2),
        "tasks.sort.precision",
        "each class once",
    ),
    (
        "an adaptive default",
        make_policy(tasks=(make_task_policy(mode=BudgetMode.ADAPTIVE),), difficulty="0" * 16),
        "tasks.default.mode",
        "allowed: fixed",
    ),
    (
        "an exit of unknown tasks",
        make_policy(tasks=(make_task_policy(exit=make_exit(enabled=True)),)),
        "tasks.default.exit.enabled",
        "True, allowed: false",
    ),
    ("no estimator", task(mode=BudgetMode.ADAPTIVE), "tasks.sort.mode", "names no difficulty estimator"),
    ("few controls", control(young_fraction=0.049), "control.young_fraction", "a number from 0.05 to 1"),
    ("no controls", control(fraction=0.0), "control.fraction", "above 0"),
)


@pytest.mark.parametrize(("policy", "param", "said"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_contradiction_is_refused(policy: Policy, param: str, said: str) -> None:
    """The message names the field, its value, what is allowed and the fix."""
    with pytest.raises(ConfigError) as caught:
        check_policy(policy)

    assert caught.value.param == param
    assert caught.value.message.startswith(f"{param} is ")
    assert said in caught.value.message


@settings(max_examples=EXAMPLES)
@given(policies())
def test_what_makes_sense_passes(policy: Policy) -> None:
    """Nothing is refused that does not contradict itself."""
    check_policy(policy)


@pytest.mark.parametrize(
    "policy",
    [
        control(),
        replace(make_policy(), control=ControlPolicy(fraction=0.0, young_fraction=0.0, young_until=1)),
        make_policy(tasks=(make_task_policy(exit=make_exit()),)),
        rule((MIN, 0.9), learned=learned((KL, 1.0))),
        rule((ProgressSignal.GAP, 5.0), (KL, 2.0)),
        replace(task(mode=BudgetMode.ADAPTIVE), difficulty="0" * 16),
        task(strategy=StrategyChoice(name=StrategyName.ENTROPY_BOUND, threshold=3.0)),
        make_policy(classes=(make_class_policy(re_expansions=0, re_expansion_factor=1.0),)),
        make_policy(classes=(make_class_policy(min_share=0.4), make_class_policy("batch", min_share=0.6))),
        make_policy(classes=(make_class_policy(min_share=1.0, max_share=1.0),)),
        make_policy(classes=(make_class_policy(deadline_s=0.01, smaller_bucket=True),)),
    ],
)
def test_edge_passes(policy: Policy) -> None:
    """Least controls, none where nothing stops, an observing default, kinds from the learned score."""
    check_policy(policy)
