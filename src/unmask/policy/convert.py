"""From the file's document to the frozen policy, and back."""

from dataclasses import fields

from unmask.policy.policy import (
    BucketSteps,
    ClassPolicy,
    ControlPolicy,
    ExitPolicy,
    Policy,
    PrecisionPolicy,
    SearchPolicy,
    TaskPolicy,
)
from unmask.policy.schema import ClassDocument, ExitDocument, PolicyDocument, StrategyDocument, TaskDocument
from unmask.strategy import StrategyChoice
from unmask.types import Bucket, ExitCondition, ExitRule, LearnedExit


def policy_from(document: PolicyDocument) -> Policy:
    """Return the policy that a document describes; whether it makes sense is judged in `unmask.policy.rules`."""
    control = document.control
    return Policy(
        model=document.model,
        model_digest=document.model_digest,
        difficulty=document.difficulty,
        buckets=tuple(
            BucketSteps(bucket=bucket, max_steps=document.buckets[bucket])
            for bucket in Bucket
            if bucket in document.buckets
        ),
        tasks=tuple(_task(name, task) for name, task in document.tasks.items()),
        classes=tuple(_service_class(name, found) for name, found in document.classes.items()),
        default_class=document.default_class,
        control=ControlPolicy(
            fraction=control.fraction, young_fraction=control.young_fraction, young_until=control.young_until
        ),
    )


def document_of(policy: Policy) -> PolicyDocument:
    """Return the document of a policy.

    Raises:
        pydantic.ValidationError: a value is of the wrong type or out of its range; its place is that in the document.
    """
    raw = {
        "model": policy.model,
        "model_digest": policy.model_digest,
        "difficulty": policy.difficulty,
        "buckets": {entry.bucket: entry.max_steps for entry in policy.buckets},
        "default_class": policy.default_class,
        "classes": {entry.name: _raw_class(entry) for entry in policy.classes},
        "tasks": {entry.task: _raw_task(entry) for entry in policy.tasks},
        "control": _without(policy.control),
    }
    return PolicyDocument.model_validate(raw)


def _task(name: str, document: TaskDocument) -> TaskPolicy:
    return TaskPolicy(
        task=name,
        mode=document.mode,
        floor=document.floor,
        default=document.default,
        ceiling=document.ceiling,
        strategy=None if document.strategy is None else strategy_from(document.strategy),
        finality=document.finality,
        exit=None if document.exit is None else exit_from(document.exit),
        alpha=document.alpha,
        shift=document.shift,
        precision=tuple(
            PrecisionPolicy(service_class=name, normal=entry.normal, low=entry.low, high=entry.high)
            for name, entry in (document.precision or {}).items()
        ),
    )


def exit_from(document: ExitDocument) -> ExitPolicy:
    """Return the exit policy that a document describes."""
    learned = document.learned
    rule = ExitRule(
        conditions=tuple(ExitCondition(signal=signal, bound=bound) for signal, bound in document.conditions.items()),
        learned=None
        if learned is None
        else LearnedExit(
            version=learned.version,
            bias=learned.bias,
            weights=tuple(learned.weights.items()),
            threshold=learned.threshold,
        ),
        patience=document.patience,
        min_steps=document.min_steps,
    )
    return ExitPolicy(rule=rule, enabled=document.enabled, misjudgement_limit=document.misjudgement_limit)


def _service_class(name: str, document: ClassDocument) -> ClassPolicy:
    return ClassPolicy(
        name=name,
        prefers=document.prefers,
        max_steps=document.max_steps,
        max_total_steps=document.max_total_steps,
        at_cap=document.at_cap,
        re_expansions=document.re_expansions,
        re_expansion_factor=document.re_expansion_factor,
        deadline_s=document.deadline_s,
        weight=document.weight,
        min_share=document.min_share,
        max_share=document.max_share,
        smaller_bucket=document.smaller_bucket,
        searches=tuple(
            SearchPolicy(task=task, method=found.method, width=found.width, from_bucket=found.from_bucket)
            for task, found in (document.searches or {}).items()
        ),
        quality_floor=document.quality_floor,
    )


def _raw_class(entry: ClassPolicy) -> dict[str, object]:
    # Without any the field is left out, as it is in policies that are older than it.
    searches = {search.task: _without(search, "task") for search in entry.searches} or None
    return {**_without(entry, "name"), "searches": searches}


def _raw_task(task: TaskPolicy) -> dict[str, object]:
    return {
        **_without(task, "task"),
        "strategy": None if task.strategy is None else raw_strategy(task.strategy),
        "exit": None if task.exit is None else raw_exit(task.exit),
        "precision": {entry.service_class: _without(entry, "service_class") for entry in task.precision} or None,
    }


def strategy_from(document: StrategyDocument) -> StrategyChoice:
    """Return the strategy that a document describes."""
    return StrategyChoice(name=document.name, threshold=document.threshold, window=document.window)


def raw_strategy(strategy: StrategyChoice) -> dict[str, object]:
    """Return the fields of a strategy's document; what it has learnt is named elsewhere."""
    return {"name": strategy.name, "threshold": strategy.threshold, "window": strategy.window}


def raw_exit(policy: ExitPolicy) -> dict[str, object]:
    """Return the fields of an exit's document."""
    rule, learned = policy.rule, policy.rule.learned
    return {
        "enabled": policy.enabled,
        "misjudgement_limit": policy.misjudgement_limit,
        "conditions": {condition.signal: condition.bound for condition in rule.conditions},
        "learned": None if learned is None else {**_without(learned), "weights": dict(learned.weights)},
        "patience": rule.patience,
        "min_steps": rule.min_steps,
    }


def _without(
    value: ClassPolicy | ControlPolicy | SearchPolicy | TaskPolicy | PrecisionPolicy | LearnedExit, *left_out: str
) -> dict[str, object]:
    """Return a value's fields by name; what stands elsewhere in the document is left out."""
    return {entry.name: getattr(value, entry.name) for entry in fields(value) if entry.name not in left_out}
