"""A request that was given its budget."""

from dataclasses import dataclass, replace

from unmask.backend import Lever, ModelInfo, Request
from unmask.control.budget import Assignment
from unmask.control.check import AnswerCheck
from unmask.control.expansion import Expansion
from unmask.control.search_choice import SearchChoice
from unmask.tasks.consistency import SelfConsistency


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """A request as the backend is to have it, and what it was given.

    Attributes:
        model: which model answers.
        check: judges its answers, if anybody can.
        consistency: how samples are compared with its answer, where that is asked for.
        expansion: the limits of further attempts; ``None`` where there are none.
        search: how its first attempt is searched for, where it is.
        max_total_steps: most steps of all generations for it together; ``None`` where each has its own cap.
    """

    request: Request
    model: ModelInfo
    assignment: Assignment
    check: AnswerCheck | None = None
    consistency: SelfConsistency | None = None
    expansion: Expansion | None = None
    search: SearchChoice | None = None
    max_total_steps: int | None = None

    @property
    def opening(self) -> Request:
        """The request as its first attempt is sent: with log-probabilities where an answer may be reopened."""
        can_reopen = self.expansion is not None and Lever.DRAFT in self.model.levers
        if not can_reopen or self.request.top_logprobs is not None:
            return self.request
        return replace(self.request, top_logprobs=0)
