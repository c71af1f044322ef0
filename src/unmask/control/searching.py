"""The first attempt of a request: as it is, or the best that a search finds."""

from collections.abc import Sequence
from dataclasses import dataclass

from unmask.backend import Generation
from unmask.clock import Clock
from unmask.control.admitted import Admitted
from unmask.control.answered import Answered
from unmask.control.attempt import Attempt, AttemptReason
from unmask.control.reexpand import Generate
from unmask.search.running import GenerationEndedError, Setting
from unmask.search.search import search


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A first attempt, and what a search has run beside it; all of it is booked.

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
