"""Policies in force, and sources that say what a test tells them; the values are `unmask.testing.budget_policies`."""

from collections.abc import Callable, Mapping
from typing import Any

from unmask.backend import Request
from unmask.control.budget import Assignment
from unmask.control.sources import ActivePolicy, Classified, Estimate, Estimator, no_policy
from unmask.policy.policy import DEFAULT_TASK, ControlPolicy, Preference, TaskPolicy
from unmask.tasks.formats import AnswerFormat
from unmask.testing.budget_policies import make_class_policy, make_policy, make_task_policy
from unmask.types import Message

DIGEST = "feedface" * 8
ESTIMATOR = "d1ff"
"""Digest of the estimator that policies in force here name."""


def make_active(*tasks: TaskPolicy, **changes: Any) -> ActivePolicy:  # noqa: ANN401 - any field of the policy
    """Return a policy in force of the default task type and others, with the classes interactive and batch.

    A third of what may be a control is one, no rule is ever young, and nothing is attempted again.
    """
    fields: dict[str, Any] = {
        "difficulty": ESTIMATOR,
        "tasks": (make_task_policy(), *tasks),
        "classes": (
            make_class_policy(max_steps=16, re_expansions=0),
            make_class_policy("batch", prefers=Preference.QUALITY, re_expansions=0),
        ),
        "control": ControlPolicy(fraction=1 / 3, young_fraction=1 / 3, young_until=0),
    }
    policy = make_policy(**(fields | changes))
    return ActivePolicy(policy=policy, digest=DIGEST)


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
    """Has one estimator, that of `ESTIMATOR`."""

    def __init__(self, estimator: Estimator) -> None:
        self._estimator = estimator

    def estimator(self, digest: str) -> Estimator | None:
        """Return it for its digest."""
        return self._estimator if digest == ESTIMATOR else None


class FakeClassifier:
    """Tells task types by a function of the last message."""

    def __init__(self, task_of: Callable[[str], str | None]) -> None:
        self._task_of = task_of

    def classify(self, messages: tuple[Message, ...]) -> Classified | None:
        """Return what the function says."""
        task = self._task_of(messages[-1].content)
        return None if task is None else Classified(task=task)
