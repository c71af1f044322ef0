"""From the small model of a route to the large one, where the small one's answer fails its verifiers or never comes."""

import logging
from dataclasses import replace

from unmask.backend import Generation, Lever
from unmask.backend import Request as GenerateRequest
from unmask.control.admitted import Admitted
from unmask.control.answered import Answered, Cap, followed, unanswered
from unmask.control.attempt import AttemptReason
from unmask.control.reexpand import Generate, conclude
from unmask.control.searching import Begun, SearchParts, begin
from unmask.errors import DeadlineError, DrainingError, InvalidRequestError, UnmaskError
from unmask.types import Outcome, StepBudget

_LOG = logging.getLogger(__name__)


async def begin_small(admitted: Admitted, generate: Generate, parts: SearchParts, *, arrived: float) -> Begun:
    """Make the first attempt of a request that may be escalated; by the large model where the small one has none.

    Raises:
        UnmaskError: what keeps both from taking the request, or what no other model would mend: it is not valid, it
            would come too late, or the server stops.
    """
    assert admitted.escalation is not None, "only a route tries a small model first"
    try:
        begun = await begin(admitted, generate, parts, arrived=arrived)
    except (InvalidRequestError, DeadlineError, DrainingError):
        raise
    except UnmaskError as error:
        _LOG.warning("%s serves a request of %s: %s", admitted.escalation.model.name, admitted.model.name, error)
        begun = await begin(admitted.escalation, generate, parts, arrived=arrived)
        return replace(begun, served=admitted.escalation)
    if begun.first.outcome is not Outcome.FAILED:
        return begun
    _LOG.warning("%s failed and is followed by the large model: %s", admitted.model.name, begun.first.error)
    tried = unanswered(begun.first, admitted.model.name)
    larger = within_rest(admitted, tried)
    if larger is None:
        return begun
    begun = await begin(larger, _further(generate), parts, arrived=arrived)
    return replace(begun, served=larger, tried=tried)


async def escalate(admitted: Admitted, found: Answered, generate: Generate, parts: SearchParts) -> Answered:
    """Return the large model's answer to a request that the small one has failed, unless that is worse.

    What the large model may take is what the request has left of its total. Where it cannot be run, or does not
    complete, the small one's answer stays.
    """
    larger = within_rest(admitted, found)
    if larger is None:
        return replace(found, cap=Cap.MAX_TOTAL_STEPS)
    try:
        begun = await begin(larger, _further(generate), parts, arrived=found.first.timing.arrived)
    except DeadlineError:
        return replace(found, cap=Cap.DEADLINE)
    except UnmaskError as error:
        _LOG.warning("a request could not be escalated, the small model's answer is kept: %s", error)
        return found
    if begun.first.outcome is not Outcome.COMPLETED:
        _LOG.warning("an escalated request ended as %s: %s", begun.first.outcome, begun.first.error)
        return followed(found, unanswered(begun.first, larger.model.name))
    after = await conclude(larger, begun.first, generate, beside=begun.beside)
    return followed(found, replace(after, searched=begun.searched))


def within_rest(admitted: Admitted, tried: Answered) -> Admitted | None:
    """Return the escalation of a request with what is left of its total; nothing where that is spent."""
    larger = admitted.escalation
    assert larger is not None, "only a route escalates"
    request = replace(larger.request, arrived=tried.first.timing.arrived)
    if larger.max_total_steps is None:
        return replace(larger, request=request)
    left = larger.max_total_steps - sum(attempt.steps for attempt in tried.attempts)
    if left < 1:
        return None
    if Lever.BUDGET in larger.model.levers:
        steps = larger.model.default_steps_of(request.canvas_length)
        budget = request.budget or StepBudget(max_steps=steps)
        request = replace(request, budget=replace(budget, max_total_steps=left))
    return replace(
        larger,
        request=request,
        max_total_steps=left,
        search=None if larger.search is None else larger.search.within(left),
        expansion=None if larger.expansion is None else replace(larger.expansion, max_total_steps=left),
    )


def _further(generate: Generate) -> Generate:
    """Return what runs the large model's first attempt as a further one of the request."""

    async def run(request: GenerateRequest, reason: AttemptReason) -> Generation:
        return await generate(request, AttemptReason.ESCALATE if reason is AttemptReason.FIRST else reason)

    return run
