"""Searches a request by its plan's method."""

from dataclasses import replace
from typing import assert_never

from unmask.search.breadth import breadth
from unmask.search.candidates import candidates
from unmask.search.depth import depth
from unmask.search.found import Found
from unmask.search.plan import check_plan
from unmask.search.rollover import rollover
from unmask.search.running import Setting
from unmask.service import SearchMethod


async def search(setting: Setting) -> Found:
    """Return the best answer that a search finds within its steps and its deadline; cancelling it aborts all that runs.

    Raises:
        InvalidRequestError: the plan cannot be run.
        UnmaskError: there is no answer: what kept the first generation from being one.
    """
    plan = setting.plan
    check_plan(plan, setting.model, has_verifier=setting.check is not None)
    if plan.width == 1 or plan.method is SearchMethod.NONE:
        return await candidates(replace(setting, plan=replace(plan, width=1)))
    match plan.method:
        case SearchMethod.CANDIDATES:
            return await candidates(setting)
        case SearchMethod.BREADTH:
            return await breadth(setting)
        case SearchMethod.DEPTH:
            return await depth(setting)
        case SearchMethod.ROLLOVER:
            return await rollover(setting)
        case _:
            assert_never(plan.method)
