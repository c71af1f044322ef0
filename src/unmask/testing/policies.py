"""A policy with every field filled in, and sources that say what a test tells them to."""

from collections.abc import Callable, Mapping
from typing import Any

from unmask.backend import Request
from unmask.control.budget import Assignment
from unmask.control.sources import ActivePolicy, Classified, Estimate, Estimator, no_policy
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
from unmask.tasks.formats import AnswerFormat
from unmask.types import Bucket, ExitCondition, ExitRule, Message, ProgressSignal

DIGEST = "feedface" * 8
RULE = ExitRule(
    conditions=(
        ExitCondition(signal=ProgressSignal.FLIPS, bound=0.0),
        ExitCondition(signal=ProgressSignal.CONFIDENCE_MIN, bound=0.9),
    ),
    patience=2,
    min_steps=2,
)


def make_exit(**changes: Any) -> ExitPolicy:  # noqa: ANN401 - any field
    """Return an exit policy that stops requests."""
    fields: dict[str, Any] = {"rule": RULE, "enabled": True, "misjudgement_limit": 0.01}
    return ExitPolicy(**(fields | changes))


def make_task(task: str = DEFAULT_TASK, **changes: Any) -> TaskPolicy:  # noqa: ANN401 - any field
    """Return a fixed budget of 8 steps, from 2 to 16."""
    fields: dict[str, Any] = {
        "mode": BudgetMode.FIXED,
        "floor": 2,
        "default": 8,
        "ceiling": 16,
        "strategy": None,
        "exit": None,
        "alpha": 0.05,
        "shift": 0.0,
    }
    return TaskPolicy(task=task, **(fields | changes))


def make_class(name: str = "interactive", **changes: Any) -> ClassPolicy:  # noqa: ANN401 - any field
    """Return a class that gives up quality before its deadline, with up to 16 steps a canvas."""
    fields: dict[str, Any] = {
        "prefers": Preference.DEADLINE,
        "max_steps": 16,
        "max_total_steps": None,
        "at_cap": AtCap.TRUNCATE,
        "re_expansions": 0,
        "re_expansion_factor": 2.0,
    }
    return ClassPolicy(name=name, **(fields | changes))


def make_policy(*tasks: TaskPolicy, **changes: Any) -> Policy:  # noqa: ANN401 - any field
    """Return a policy of the default task type and others, with the classes interactive and batch.

    A third of what may be a control is one, and no rule is ever young.
    """
    fields: dict[str, Any] = {
        "model": "tiny",
        "model_digest": "0123456789abcdef",
        "difficulty": "d1ff",
        "buckets": tuple(
            BucketSteps(bucket=bucket, max_steps=steps) for bucket, steps in zip(Bucket, (2, 4, 8, 16, 32), strict=True)
        ),
        "tasks": (make_task(), *tasks),
        "classes": (make_class(), make_class("batch", prefers=Preference.QUALITY, max_steps=32)),
        "default_class": "interactive",
        "control": ControlPolicy(fraction=1 / 3, young_fraction=1 / 3, young_until=0),
    }
    return Policy(**(fields | changes))


def make_active(*tasks: TaskPolicy, **changes: Any) -> ActivePolicy:  # noqa: ANN401 - any field of the policy
    """Return a policy in force."""
    return ActivePolicy(policy=make_policy(*tasks, **changes), digest=DIGEST)


def make_assignment(**changes: Any) -> Assignment:  # noqa: ANN401 - any field
    """Return what a request without a policy is given."""
    return Assignment(**({"task": DEFAULT_TASK} | changes))


class FakePolicies:
    """Has a policy for one model, which a test may replace."""

    def __init__(self, active: ActivePolicy | None, model: str = "tiny") -> None:
        self.active = active
        self._model = model

    def active_policy(self, model: str, model_digest: str) -> ActivePolicy | None:  # noqa: ARG002 - the protocol's
        """Return the policy for the model it is of."""
        return self.active if model == self._model else None

    def notes(self, model: str, model_digest: str) -> tuple[str, ...]:
        """Say where there is none."""
        return () if self.active_policy(model, model_digest) else (no_policy(model),)


class FakeEstimator:
    """Estimates requests by their last message."""

    def __init__(self, estimates: Mapping[str, Estimate]) -> None:
        self._estimates = estimates

    def estimate(
        self,
        request: Request,
        task: str,  # noqa: ARG002 - the protocol's
        answer_format: AnswerFormat | None,  # noqa: ARG002 - same
        *,
        task_confidence: float = 1.0,  # noqa: ARG002 - same
    ) -> Estimate | None:
        """Return what it was told to."""
        return self._estimates.get(request.messages[-1].content)


class FakeEstimators:
    """Has one estimator, of the digest of `make_policy`."""

    def __init__(self, estimator: Estimator) -> None:
        self._estimator = estimator

    def estimator(self, digest: str) -> Estimator | None:
        """Return it for its digest."""
        return self._estimator if digest == "d1ff" else None


class FakeClassifier:
    """Tells task types by a function of the last message."""

    def __init__(self, task_of: Callable[[str], str | None]) -> None:
        self._task_of = task_of

    def classify(self, messages: tuple[Message, ...]) -> Classified | None:
        """Return what the function says."""
        task = self._task_of(messages[-1].content)
        return None if task is None else Classified(task=task)
