"""Budget policies with every field filled in, of which a test names only what it is about."""

from datetime import UTC, datetime, timedelta
from typing import Any

from unmask.policy.log import Signature
from unmask.policy.policy import (
    DEFAULT_TASK,
    AtCap,
    BucketSteps,
    BudgetMode,
    ClassPolicy,
    ControlPolicy,
    ExitPolicy,
    Policy,
    Preference,
    TaskPolicy,
)
from unmask.types import Bucket, ExitCondition, ExitRule, ProgressSignal

DAY = datetime(2026, 1, 1, tzinfo=UTC)
RULE = ExitRule(
    conditions=(
        ExitCondition(signal=ProgressSignal.FLIPS, bound=0.0),
        ExitCondition(signal=ProgressSignal.CONFIDENCE_MIN, bound=0.9),
    ),
    patience=2,
)


def make_exit(**changes: Any) -> ExitPolicy:  # noqa: ANN401 - any field of the exit
    """Return an exit of two kinds of signal that only observes."""
    fields: dict[str, Any] = {"rule": RULE, "enabled": False, "misjudgement_limit": 0.01}
    return ExitPolicy(**(fields | changes))


def make_task_policy(task: str = DEFAULT_TASK, **changes: Any) -> TaskPolicy:  # noqa: ANN401 - any field of the task
    """Return a fixed budget without exit."""
    fields: dict[str, Any] = {
        "mode": BudgetMode.FIXED,
        "floor": 2,
        "default": 8,
        "ceiling": 16,
        "strategy": None,
        "exit": None,
        "alpha": 0.01,
        "shift": 0.0,
    }
    return TaskPolicy(task=task, **(fields | changes))


def make_class_policy(name: str = "interactive", **changes: Any) -> ClassPolicy:  # noqa: ANN401 - any field of the class
    """Return a class that answers as far as it came."""
    fields: dict[str, Any] = {
        "prefers": Preference.DEADLINE,
        "max_steps": 32,
        "max_total_steps": None,
        "at_cap": AtCap.TRUNCATE,
        "re_expansions": 1,
        "re_expansion_factor": 2.0,
    }
    return ClassPolicy(name=name, **(fields | changes))


def make_policy(**changes: Any) -> Policy:  # noqa: ANN401 - any field of the policy
    """Return a policy of two task types and one class for `unmask.testing.builders.make_model`'s model."""
    fields: dict[str, Any] = {
        "model": "tiny",
        "model_digest": "0123456789abcdef",
        "difficulty": None,
        "buckets": tuple(
            BucketSteps(bucket=bucket, max_steps=steps) for bucket, steps in zip(Bucket, (2, 4, 8, 16, 32), strict=True)
        ),
        "tasks": (make_task_policy(), make_task_policy("sort", exit=make_exit())),
        "classes": (make_class_policy(),),
        "default_class": "interactive",
        "control": ControlPolicy(fraction=0.02, young_fraction=0.05, young_until=381),
    }
    return Policy(**(fields | changes))


def signed(actor: str, hour: int = 0, note: str = "") -> Signature:
    """Return a signature of some hour after `DAY`."""
    return Signature(actor=actor, time=DAY + timedelta(hours=hour), note=note)
