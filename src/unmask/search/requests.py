"""The requests that a search makes of one request."""

from dataclasses import replace

from unmask.backend import Lever, Request
from unmask.search.running import Setting
from unmask.types import ExitCondition, ExitPlan, ExitRule, Mode, ProgressSignal, StepBudget

SEARCH_SEEDS = b"unmask-search"
"""What tells the seeds of a search's generations from those of further attempts."""


def drawn(setting: Setting, number: int, *, is_warm: bool = True, is_awaited: bool = False) -> Request:
    """Return generation ``number`` of a search: number 0 as the request itself, others drawn anew.

    All but number 0 are drawn at the plan's temperature, unless the request's own is higher, and yield to everybody
    else's work (`Setting.spare`). With ``is_awaited`` the answer waits for them, so that they have the request's own
    terms; with ``is_warm`` false its temperature as well.

    All have the request's messages and tenant, so the prompt's KV is computed once. Exits, budgets to fall back on and
    snapshots are the first's alone: an exit may be what made it fail, and a control run is of the request itself.
    """
    request, levers = setting.request, setting.model.levers
    logprobs = request.top_logprobs
    if logprobs is None and Lever.LOGPROBS in levers:
        logprobs = 0
    request = replace(
        request, top_logprobs=logprobs, trace=request.trace or (setting.plan.drafts and Lever.TRACE in levers)
    )
    if number == 0:
        return request
    sampling, is_spare = request.sampling.reseeded(number, use=SEARCH_SEEDS), is_warm and not is_awaited
    if is_warm:
        request = drawable(request)
        sampling = replace(sampling, temperature=max(sampling.temperature, setting.plan.temperature))
    return replace(
        request,
        sampling=sampling,
        smaller=(),
        exit=None,
        check=None,
        snapshots=False,
        terms=setting.spare if is_spare and setting.spare is not None else request.terms,
    )


def drawable(request: Request) -> Request:
    """Return a request whose tokens may be drawn: drafts of speculation are verified against the likeliest alone."""
    if request.mode is not Mode.SPECULATIVE:
        return request
    return replace(request, mode=Mode.AUTOREGRESSIVE, canvas_length=None)


def after(steps: int) -> ExitPlan:
    """Return the exit that stops a canvas after so many steps, 2 or more, whatever its signals.

    A rule looks at two kinds of signals at least; these bounds are met by every value they can have.
    """
    conditions = (
        ExitCondition(signal=ProgressSignal.FLIPS, bound=1.0),
        ExitCondition(signal=ProgressSignal.CONFIDENCE_MIN, bound=0.0),
    )
    return ExitPlan(rule=ExitRule(conditions=conditions, min_steps=steps))


def capped(request: Request, max_steps: int) -> Request:
    """Return a request with another cap on the steps of a canvas; that of the whole is the search's."""
    return replace(request, budget=StepBudget(max_steps=max_steps))
