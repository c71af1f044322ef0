"""A request that was given its budget."""

from dataclasses import dataclass, replace

from unmask.backend import Lever, ModelInfo, Request
from unmask.cache.entry import Question
from unmask.control.answered import Answered
from unmask.control.asked import CacheUse
from unmask.control.attempt import AttemptReason
from unmask.control.budget import Assignment
from unmask.control.check import AnswerCheck
from unmask.control.expansion import Expansion
from unmask.control.refiner import RefinedPrompt
from unmask.control.route import Decision
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
        refined: what its prompt is without what was cut; its request has that prompt already, a control the whole one.
        search: how its first attempt is searched for, where it is.
        max_total_steps: most steps of all generations for it together; ``None`` where each has its own cap.
        decision: why this model answers, where the request asked for a route.
        escalation: the request as the route's larger model is to have it where this one fails.
        question: what its answer is kept under and looked up by; ``None`` where it may not be.
        cache_use: what its client allows the cache.
    """

    request: Request
    model: ModelInfo
    assignment: Assignment
    check: AnswerCheck | None = None
    consistency: SelfConsistency | None = None
    expansion: Expansion | None = None
    refined: RefinedPrompt | None = None
    search: SearchChoice | None = None
    max_total_steps: int | None = None
    decision: Decision | None = None
    escalation: "Admitted | None" = None
    question: Question | None = None
    cache_use: CacheUse = CacheUse()

    @property
    def asked_model(self) -> str:
        """The name that the request asked for: its route's, or its model's."""
        return self.model.name if self.decision is None else self.decision.route

    def of(self, model: str) -> "Admitted":
        """Return the request as a model had it: the escalation where that is the larger one."""
        larger = self.escalation
        return larger if larger is not None and larger.model.name == model else self

    @property
    def can_escalate(self) -> bool:
        """Whether an answer that fails is attempted again by a larger model."""
        return self.escalation is not None and (self.check is not None or self.consistency is not None)

    def is_escalated(self, answered: Answered) -> bool:
        """Tell whether the larger model was run after this one, or in its place; for what is kept none was run."""
        larger = self.escalation
        ran = [attempt.model for attempt in answered.attempts if attempt.reason is not AttemptReason.CACHE]
        return larger is not None and larger.model.name in ran

    @property
    def is_paired(self) -> bool:
        """Whether it is answered refined beside its own answer."""
        return self.refined is not None and self.refined.is_control

    @property
    def tokens_saved(self) -> int:
        """Prompt tokens that refinement has spared its answer."""
        return 0 if self.refined is None or self.refined.is_control else self.refined.tokens_saved

    @property
    def opening(self) -> Request:
        """The request as its first attempt is sent: with log-probabilities where an answer may be reopened."""
        can_reopen = self.expansion is not None and Lever.DRAFT in self.model.levers
        if not can_reopen or self.request.top_logprobs is not None:
            return self.request
        return replace(self.request, top_logprobs=0)
