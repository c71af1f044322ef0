"""One generation of a request: the first, a further one after a failed verification, or a sample to compare with."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from unmask.backend import Generation
from unmask.control.verdict import Failure, Verdict
from unmask.search.score import confidence_of
from unmask.types import Outcome, StepBudget


class AttemptReason(StrEnum):
    """Why a generation was made.

    ``first``: every request has one. ``reopen``: a further attempt that keeps what was not at fault. ``again``: a
    further attempt from masks. ``escalate``: a further attempt by the larger model of a route. ``consistency``: a
    sample that the answer is compared with. ``search``: what a search has run beside the answer that it takes.
    ``refined``: the request with its prompt refined, to compare with. ``cache``: none was made, an earlier answer is
    given again.
    """

    FIRST = "first"
    REOPEN = "reopen"
    AGAIN = "again"
    ESCALATE = "escalate"
    CONSISTENCY = "consistency"
    SEARCH = "search"
    REFINED = "refined"
    CACHE = "cache"

    @property
    def is_further(self) -> bool:
        """Whether it is a re-expansion."""
        return self in {AttemptReason.REOPEN, AttemptReason.AGAIN, AttemptReason.ESCALATE}

    @property
    def is_beside(self) -> bool:
        """Whether it only serves to find or judge the answer, and runs beside it."""
        return self in {AttemptReason.CONSISTENCY, AttemptReason.SEARCH, AttemptReason.REFINED}


LATER = tuple(reason for reason in AttemptReason if reason not in {AttemptReason.FIRST, AttemptReason.CACHE})
"""Why there are generations beyond a request's first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A generation, why it was made, and what its verifiers say; with its usage, all that is booked of it.

    Attributes:
        budget: what it was allowed; ``None`` left it to the model.
        answers: the failure that it is to mend.
        model: which model ran it; empty for the one that the request asked for.
    """

    reason: AttemptReason
    generation: Generation
    budget: StepBudget | None
    verdict: Verdict = Verdict()
    answers: Failure | None = None
    model: str = ""

    @property
    def is_answer(self) -> bool:
        """Whether its text may be the answer: it completed, is no sample, and no search has left it behind."""
        return not self.reason.is_beside and self.generation.outcome is Outcome.COMPLETED

    @property
    def confidence(self) -> float:
        """Mean log-probability of its tokens; 0 where the backend tells none."""
        return confidence_of(self.generation) or 0.0

    @property
    def steps(self) -> int:
        """Denoise steps that it took."""
        return self.generation.usage.steps_used


def best_of(attempts: Iterable[Attempt]) -> Attempt:
    """Return the attempt with the fewest failures, of several the most confident, of several the first."""
    return max(
        (attempt for attempt in attempts if attempt.is_answer),
        key=lambda attempt: (-len(attempt.verdict.failures), attempt.confidence),
    )


def most_steps_of(attempts: Iterable[Attempt]) -> int:
    """Return the denoise steps of attempts together; of those that nobody knows the most they may have taken."""
    return sum(attempt.generation.usage.most_steps for attempt in attempts)


def steps_of(attempts: Iterable[Attempt]) -> int:
    """Return the denoise steps of attempts together."""
    return sum(attempt.steps for attempt in attempts)
