"""Where policies, difficulty and task types come from, as protocols: a server may be without any of them."""

from dataclasses import dataclass
from typing import Protocol

from unmask.backend import Request
from unmask.policy.policy import Policy
from unmask.tasks.formats import AnswerFormat
from unmask.types import Message

FIXED_POLICY = "fixed"
"""Name of what holds where no policy is approved: the client's budget or the model's default, and no exit."""
SHORT_DIGEST = 12
"""Characters of a policy's digest that answers and lists show."""


def short_digest(digest: str) -> str:
    """Return a policy's digest as answers show it."""
    return digest[:SHORT_DIGEST]


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivePolicy:
    """A policy that is approved and in force, with the digest that was approved."""

    policy: Policy
    digest: str

    @property
    def short_digest(self) -> str:
        """The digest as answers show it."""
        return short_digest(self.digest)

    @property
    def class_names(self) -> tuple[str, ...]:
        """Names of its service classes, the default one first."""
        default = self.policy.default_class
        return (default, *(entry.name for entry in self.policy.classes if entry.name != default))


class PolicySource(Protocol):
    """Knows which policy is in force for a model."""

    def active_policy(self, model: str, model_digest: str) -> ActivePolicy | None:
        """Return the approved policy of these very weights, if there is one.

        Asked once a request, on the event loop, so it answers from memory.
        """
        ...

    def notes(self, model: str, model_digest: str) -> tuple[str, ...]:
        """Say what whoever runs the server should know: that no policy is approved, or how it was."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """How hard a request looks before its first step.

    Attributes:
        score: log2 of the denoise steps a canvas of it seems to need, before the policy's shift.
        bin: difficulty bin of its task type, from 0 for the easiest.
        is_sure: whether the estimator has seen requests like it, and it is of the task type it was taken for.
        features: what the score was made from, by name.
    """

    score: float
    bin: int
    is_sure: bool
    features: tuple[tuple[str, float], ...] = ()


class Estimator(Protocol):
    """Estimates difficulty in tens of microseconds."""

    def estimate(
        self, request: Request, task: str, answer_format: AnswerFormat | None, *, task_confidence: float = 1.0
    ) -> Estimate | None:
        """Estimate a request; nothing where the estimator does not know its task type.

        Args:
            request: in the client's words.
            task: its task type.
            answer_format: the form that its answer is to have.
            task_confidence: how sure it is that the request is of its task type; 1 where the client said so.
        """
        ...


class EstimatorSource(Protocol):
    """Holds estimators by their digest, which is how a policy names the one it was calibrated with."""

    def estimator(self, digest: str) -> Estimator | None:
        """Return the estimator of a digest, if it is here; asked once a request."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Classified:
    """A task type, and from 0 to 1 how sure it is that a request is of it."""

    task: str
    confidence: float = 1.0


class Classifier(Protocol):
    """Tells task types from prompts."""

    def classify(self, messages: tuple[Message, ...]) -> Classified | None:
        """Return a prompt's task type, or nothing where it is unsure."""
        ...


class NoPolicies:
    """The source of a server without approved policies."""

    def active_policy(self, model: str, model_digest: str) -> ActivePolicy | None:  # noqa: ARG002 - the protocol's
        """Return nothing."""
        return None

    def notes(self, model: str, model_digest: str) -> tuple[str, ...]:  # noqa: ARG002 - the protocol's
        """Say so."""
        return (no_policy(model),)


def no_policy(model: str) -> str:
    """Return what is said aloud of a model without an approved policy."""
    return f"{model}: no approved policy: fixed budgets (the client's, or the model's default), no early exit"


class NoEstimators:
    """The source of a server without estimators."""

    def estimator(self, digest: str) -> Estimator | None:  # noqa: ARG002 - the protocol's
        """Return nothing."""
        return None
