"""What a request may spend on further attempts, and what answers which failure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil
from types import MappingProxyType

from unmask.backend import ModelInfo, Request
from unmask.control.asked import MAX_REEXPANSIONS, Asked
from unmask.control.sources import ActivePolicy
from unmask.errors import InvalidRequestError
from unmask.policy.policy import BucketSteps, ClassPolicy
from unmask.tasks.criteria import Criterion, Response
from unmask.tasks.failure import FailureKind
from unmask.types import Bucket

DEFAULT_RESPONSES: Mapping[FailureKind, Response] = MappingProxyType(
    {
        FailureKind.FORMAT: Response.REOPEN_SPAN,
        FailureKind.LOGIC: Response.LARGER_BUDGET,
        FailureKind.FACT: Response.RETRIEVE_AGAIN,
    }
)
"""What answers a failure of a request whose task type says nothing of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expansion:
    """The limits of further attempts after a failed verification.

    Attributes:
        limit: most further attempts.
        factor: how much larger the budget of each is.
        most_steps: cap of a canvas.
        buckets: the policy's, smallest first.
        max_total_steps: cap of all attempts together; ``None`` where each has its own.
        deadline_s: seconds after the request's arrival at which no attempt may still be running.
        responses: what answers each kind of failure.
    """

    limit: int
    factor: float
    most_steps: int
    buckets: tuple[BucketSteps, ...] = ()
    max_total_steps: int | None = None
    deadline_s: float | None = None
    responses: Mapping[FailureKind, Response] = field(default_factory=lambda: DEFAULT_RESPONSES)

    def bucket(self, steps: int) -> Bucket | None:
        """Return the smallest tier that holds a budget, the largest for one that none holds."""
        holding = (entry.bucket for entry in self.buckets if entry.max_steps >= steps)
        return next(holding, self.buckets[-1].bucket if self.buckets else None)

    def grown(self, steps: int) -> int:
        """Return the budget after one of ``steps``: by the factor, up to the next bucket, under the cap."""
        wanted = ceil(steps * self.factor)
        holding = (entry.max_steps for entry in self.buckets if entry.max_steps >= wanted)
        return max(steps, min(next(holding, wanted), self.most_steps))


def expansion_of(
    active: ActivePolicy | None,
    service_class: ClassPolicy | None,
    request: Request,
    asked: Asked,
    model: ModelInfo,
    criteria: tuple[Criterion, ...],
) -> Expansion | None:
    """Return what a request may spend on further attempts, or nothing where it has none.

    Steps that the client names cap every attempt, and so does a total that it names all of them together: what it
    asked for is never exceeded.

    Args:
        active: the policy in force; without one there are no further attempts.
        service_class: the request's.
        request: in the client's words, with the budget as it is without a policy.
        asked: what of that the client has said.
        model: which model answers.
        criteria: those of its task type.

    Raises:
        InvalidRequestError: the client asks for more than the class allows.
    """
    allowed = 0 if service_class is None else service_class.re_expansions
    wanted = asked.max_reexpansions
    if wanted is not None and wanted > allowed:
        fix = "No policy is approved." if service_class is None else f"The class {service_class.name} allows no more."
        raise InvalidRequestError(MAX_REEXPANSIONS, wanted, f"0 to {allowed}", f"{fix} Lower it, or leave it out.")
    limit = allowed if wanted is None else wanted
    if active is None or service_class is None or not limit or not asked.may_wait:
        return None
    positions = request.canvas_length or model.default_canvas_length
    cap = min(service_class.max_steps, model.max_steps, positions)
    return Expansion(
        limit=limit,
        factor=service_class.re_expansion_factor,
        most_steps=cap if asked.max_steps is None else asked.max_steps,
        buckets=active.policy.buckets,
        max_total_steps=total_cap(request, service_class),
        deadline_s=service_class.deadline_s,
        responses=responses_of(criteria),
    )


def total_cap(request: Request, service_class: ClassPolicy | None) -> int | None:
    """Return the most steps of all generations for a request together, where client or class name it.

    Args:
        request: in the client's words.
        service_class: its class, if there is one.
    """
    asked = request.budget.max_total_steps if request.budget else None
    return asked if asked is not None or service_class is None else service_class.max_total_steps


def responses_of(criteria: tuple[Criterion, ...]) -> Mapping[FailureKind, Response]:
    """Return what a task type declares for each kind of failure that is seen while serving."""
    seen = {
        criterion.failure: criterion.response
        for criterion in reversed(criteria)
        if criterion.checker is not None and criterion.checker.endswith(".verify")
    }
    return MappingProxyType({**DEFAULT_RESPONSES, **seen})
