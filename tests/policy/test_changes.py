"""Behaviour of `unmask.policy.changes`."""

from dataclasses import replace

import pytest
from hypothesis import given, settings

from tests.policy.drawn import EXAMPLES, policies
from unmask.policy.changes import ChangeKind, changed_exits, changes_between
from unmask.policy.fields import policy_fields
from unmask.policy.policy import ExitPolicy, Policy, SearchPolicy
from unmask.service import SearchMethod
from unmask.testing.budget_policies import make_class_policy, make_exit, make_policy, make_task_policy
from unmask.types import ExitCondition, ExitRule, ProgressSignal

STRICTER = ExitRule(
    conditions=(
        ExitCondition(signal=ProgressSignal.FLIPS, bound=0.0),
        ExitCondition(signal=ProgressSignal.CONFIDENCE_MIN, bound=0.95),
    )
)

WIDER = SearchPolicy(task="sort", method=SearchMethod.CANDIDATES, width=4)


def with_exit(found: ExitPolicy | None) -> Policy:
    """Return a policy whose second task type stops, observes, or does neither."""
    return make_policy(tasks=(make_task_policy(), make_task_policy("sort", exit=found)))


@settings(max_examples=EXAMPLES)
@given(policies())
def test_same_policy_differs_in_nothing(policy: Policy) -> None:
    """The order of tasks and classes is no difference."""
    turned = replace(policy, tasks=policy.tasks[::-1], classes=policy.classes[::-1])

    assert changes_between(policy, turned) == ()
    assert changed_exits(policy, turned) == ()


@settings(max_examples=EXAMPLES)
@given(policies(), policies())
def test_difference_reads_both_ways(old: Policy, new: Policy) -> None:
    """What came is what went when seen from the other side."""
    there = {(change.field, change.old, change.new) for change in changes_between(old, new)}
    back = {(change.field, change.new, change.old) for change in changes_between(new, old)}

    assert there == back


def test_every_field_is_told() -> None:
    """Old and new value of each, entries that came or went included; what it needs is marked."""
    old = make_policy()
    new = make_policy(
        tasks=(make_task_policy(default=9), make_task_policy("sort", exit=make_exit(misjudgement_limit=0.02))),
        classes=(make_class_policy(max_total_steps=99, searches=(WIDER,)),),
        model_digest="f" * 16,
    )

    told = [(change.field, change.old, change.new, change.kind) for change in changes_between(old, new)]

    assert told == [
        ("model_digest", "0123456789abcdef", "f" * 16, ChangeKind.OTHER),
        ("classes.interactive.max_total_steps", None, 99, ChangeKind.CAP),
        ("classes.interactive.searches.sort.method", None, "candidates", ChangeKind.CAP),
        ("classes.interactive.searches.sort.width", None, 4, ChangeKind.CAP),
        ("tasks.default.default", 8, 9, ChangeKind.CAP),
        ("tasks.sort.exit.misjudgement_limit", 0.01, 0.02, ChangeKind.THRESHOLD),
    ]
    assert [change.needs_approval for change in changes_between(old, new)] == [False, *[True] * 5]


def test_first_policy_is_new_throughout() -> None:
    """Without one before, every field is told and no exit was changed."""
    changes = changes_between(None, with_exit(make_exit(enabled=True)))

    assert {change.old for change in changes} == {None}
    assert changed_exits(None, with_exit(make_exit(enabled=True))) == ()


NAMED_OTHER = frozenset(
    {
        "model",
        "model_digest",
        "default_class",
        "classes.CLASS.prefers",
        "classes.CLASS.at_cap",
        "tasks.TASK.mode",
    }
)


def test_every_number_is_a_cap_or_a_threshold() -> None:
    """Only names and choices are neither, so no number of a policy changes unmarked."""
    numbers = {field.path for field in policy_fields() if "number" in field.allowed}

    assert not numbers & NAMED_OTHER
    every = changes_between(
        None, replace(with_exit(make_exit()), classes=(make_class_policy(max_total_steps=99),), difficulty="0" * 16)
    )
    others = {change.field for change in every if change.kind is ChangeKind.OTHER}
    assert others == {
        name.replace("CLASS", "interactive").replace("TASK", task)
        for name in NAMED_OTHER
        for task in ("default", "sort")
    }


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        (None, make_exit(enabled=True), ("sort",)),
        (make_exit(), make_exit(enabled=True), ("sort",)),
        (make_exit(enabled=True), make_exit(enabled=True, rule=STRICTER), ("sort",)),
        (make_exit(enabled=True), make_exit(enabled=True, misjudgement_limit=0.5), ()),
        (make_exit(enabled=True), make_exit(enabled=True), ()),
        (make_exit(enabled=True), make_exit(), ()),
        (make_exit(enabled=True), None, ()),
        (make_exit(), make_exit(rule=STRICTER), ()),
        (None, make_exit(), ()),
    ],
)
def test_exit_that_newly_stops_is_told(
    old: ExitPolicy | None, new: ExitPolicy | None, changed: tuple[str, ...]
) -> None:
    """Enabling and another rule need evidence; switching off, observing and another limit can misjudge nothing new."""
    assert changed_exits(with_exit(old), with_exit(new)) == changed


def test_order_of_conditions_is_no_change() -> None:
    """The same rule written the other way round is the same rule."""
    rule = make_exit().rule
    turned = replace(rule, conditions=rule.conditions[::-1])

    assert changed_exits(with_exit(make_exit(enabled=True)), with_exit(make_exit(enabled=True, rule=turned))) == ()
