"""The first attempt of a request: as it is, or the best that a search finds."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

from unmask.backend import Generation
from unmask.clock import Clock
from unmask.control.admitted import Admitted
from unmask.control.answered import Answered
from unmask.control.attempt import Attempt, AttemptReason
from unmask.control.reexpand import Generate
from unmask.search.running import GenerationEndedError, Setting
from unmask.search.search import search
from unmask.types import Message

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A first attempt, and what a search or a comparison has run beside it; all of it is booked.

    Attributes:
        served: the request as the larger model of a route had it, where the small one could not be run.
        tried: what the small one came to, where it was begun.
    """

    first: Generation
    beside: Sequence[Attempt] = ()
    served: Admitted | None = None
    tried: Answered | None = None


async def begin(admitted: Admitted, generate: Generate, clock: Clock) -> Begun:
    """Make the first attempt of a request.

    With a search it is the best answer found, and the deadline is that of its service class, from now on. A search
    none of whose generations completes is answered as the first of them.

    Args:
        admitted: the request.
        generate: runs generations; a search's are booked as such, whichever is taken.
        clock: of the deadline.

    Raises:
        UnmaskError: what keeps the backend from taking the request.
    """
    if admitted.refined is not None and admitted.refined.is_control:
        return await _both_ways(admitted, admitted.refined.messages, generate)
    if admitted.search is None:
        return Begun(first=await generate(admitted.opening, AttemptReason.FIRST))
    deadline_s = admitted.request.terms.deadline_s
    setting = Setting(
        plan=admitted.search,
        request=admitted.opening,
        model=admitted.model,
        generate=lambda request: generate(request, AttemptReason.SEARCH),
        clock=clock,
        check=None if admitted.check is None else admitted.check.passes,
        deadline=None if deadline_s is None else clock.now() + deadline_s,
    )
    try:
        found = await search(setting)
    except GenerationEndedError as error:
        return Begun(first=error.generation)
    best = found.best.generation
    # What is taken has the usage of the run that ended it, whatever else votes and earlier canvases have added.
    beside = tuple(
        Attempt(reason=AttemptReason.SEARCH, generation=ran, budget=admitted.request.budget, model=admitted.model.name)
        for ran in found.generations
        if ran.usage is not best.usage
    )
    return Begun(first=best, beside=beside)


async def _both_ways(admitted: Admitted, messages: tuple[Message, ...], generate: Generate) -> Begun:
    """Answer a request as it is, and with its prompt refined beside that; one that cannot be run is left out."""
    refined = replace(admitted.request, messages=messages)
    # A call that is cancelled cancels both, and returns once both have ended.
    first, beside = await asyncio.gather(
        generate(admitted.opening, AttemptReason.FIRST),
        generate(refined, AttemptReason.REFINED),
        return_exceptions=True,
    )
    if isinstance(first, BaseException):
        raise first
    if isinstance(beside, BaseException):
        _LOG.warning("a refined prompt could not be compared with: %s", beside)
        return Begun(first=first)
    attempt = Attempt(
        reason=AttemptReason.REFINED, generation=beside, budget=admitted.request.budget, model=admitted.model.name
    )
    return Begun(first=first, beside=(attempt,))
