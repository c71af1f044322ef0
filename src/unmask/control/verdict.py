"""What the verifiers of a request say of one answer."""

from dataclasses import dataclass
from enum import StrEnum

from unmask.tasks.failure import FailureKind
from unmask.tasks.span import Span
from unmask.types import Verification


class Judge(StrEnum):
    """Who says whether an answer passes.

    ``task``: the verifier of its task type. ``format``: what its client asks of it. ``person``: a person.
    """

    TASK = "task"
    FORMAT = "format"
    PERSON = "person"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What one verifier finds wrong with an answer.

    Attributes:
        span: which part of its text is at fault, where that can be told.
    """

    kind: FailureKind
    judge: Judge
    reason: str
    span: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """How many verifiers an answer passes, and what the others find wrong, in the order they were asked."""

    passed: int = 0
    failures: tuple[Failure, ...] = ()

    @property
    def verification(self) -> Verification:
        """The verdict in a word."""
        if self.failures:
            return Verification.FAIL
        return Verification.PASS if self.passed else Verification.SKIPPED
