"""The first attempt of a request: as it is, or the best that a search finds."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from unmask.backend import Generation
from unmask.clock import Clock, SystemClock
from unmask.control.admitted import Admitted
from unmask.control.answered import Answered
from unmask.control.attempt import Attempt, AttemptReason
from unmask.control.pressure import Pressure
from unmask.control.reexpand import Generate
from unmask.control.searched import Searched
from unmask.metrics.searches import SearchInstruments
from unmask.search.found import Found
from unmask.search.reward import RewardDesk
from unmask.search.running import GenerationEndedError, Setting
from unmask.search.search import search
from unmask.types import Message

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchParts:
    """What the searches of a server share.

    Attributes:
        clock: of their deadlines.
        desk: asks a reward endpoint, if there is one.
        pressure: tells how much room the machine has for them; ``None`` takes it that it has all they ask for.
        instruments: told of each search; ``None`` counts none.
    """

    clock: Clock = field(default_factory=SystemClock)
    desk: RewardDesk | None = None
    pressure: Pressure | None = None
    instruments: SearchInstruments | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A first attempt, and what a search or a comparison has run beside it; all of it is booked.

    Attributes:
        served: the request as the larger model of a route had it, where the small one could not be run.
        tried: what the small one came to, where it was begun.
        searched: what became of its search, if it had one.
    """

    first: Generation
    beside: Sequence[Attempt] = ()
    served: Admitted | None = None
    tried: Answered | None = None
    searched: Searched | None = None


async def begin(admitted: Admitted, generate: Generate, parts: SearchParts, *, arrived: float) -> Begun:
    """Make the first attempt of a request.

    With a search it is the best answer found, and the deadline is that of its service class, from the request's
    arrival. What no answer waits for yields to everybody else's work, and is dropped where the machine has no room. A
    search none of whose generations completes is answered as the first of them.

    Args:
        admitted: the request.
        generate: runs generations; a search's are booked as such, whichever is taken.
        parts: what searches share.
        arrived: when the request did, on the clock of ``parts``.

    Raises:
        UnmaskError: what keeps the backend from taking the request.
    """
    if admitted.refined is not None and admitted.refined.is_control:
        return await _both_ways(admitted, admitted.refined.messages, generate)
    if admitted.search is None:
        return Begun(first=await generate(admitted.opening, AttemptReason.FIRST))
    terms = admitted.request.terms
    async with _setting(admitted, generate, parts) as setting:
        deadline = None if terms.deadline_s is None else arrived + terms.deadline_s
        try:
            found = await search(replace(setting, spare=terms.spare, deadline=deadline))
        except GenerationEndedError as error:
            return Begun(first=error.generation)
    begun = _begun(admitted, found)
    if parts.instruments is not None and begun.searched is not None:
        _count(parts.instruments, admitted.model.name, begun.searched)
    return begun


@asynccontextmanager
async def _setting(admitted: Admitted, generate: Generate, parts: SearchParts) -> AsyncIterator[Setting]:
    """Yield a request's search, with the word how much room the machine has for it."""
    assert admitted.search is not None, "only a search has a setting"
    setting = Setting(
        plan=admitted.search.plan,
        request=admitted.opening,
        model=admitted.model,
        generate=lambda request: generate(request, AttemptReason.SEARCH),
        clock=parts.clock,
        check=None if admitted.check is None else admitted.check.passes,
        refutes=None if admitted.check is None else admitted.check.refutes,
        accepts_drafts=admitted.check is not None and admitted.check.accepts_drafts,
        desk=parts.desk,
    )
    if parts.pressure is None:
        yield setting
        return
    async with parts.pressure.watched(admitted.model.name, admitted.request.terms.name) as room:
        yield replace(setting, room=room)


def _begun(admitted: Admitted, found: Found) -> Begun:
    assert admitted.search is not None, "it was searched"
    best = found.best.generation
    # What is taken has the usage of the run that ended it, whatever else votes and earlier canvases have added.
    beside = tuple(
        Attempt(reason=AttemptReason.SEARCH, generation=ran, budget=admitted.request.budget, model=admitted.model.name)
        for ran in found.generations
        if ran.usage is not best.usage
    )
    return Begun(
        first=best,
        beside=beside,
        searched=Searched(
            method=admitted.search.plan.method,
            width=admitted.search.plan.width,
            source=admitted.search.source,
            limit=found.limit,
            dropped=found.dropped,
            reward=found.reward,
        ),
    )


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


def _count(instruments: SearchInstruments, model: str, searched: Searched) -> None:
    instruments.searched(model, searched.method, searched.source)
    if searched.limit is not None:
        instruments.limited(model, searched.limit, searched.dropped)
    if searched.reward is not None:
        instruments.rewarded(model, searched.reward)
