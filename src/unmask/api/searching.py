"""From ``diffusion`` to the search that a client asks for."""

from dataclasses import replace

from unmask.api.call import Delivery
from unmask.api.schema import DiffusionOptions
from unmask.api.shown import AsJson
from unmask.control.asked import SEARCH, SEGMENT_WEIGHTS, WIDTH
from unmask.control.search_choice import runs_once
from unmask.errors import InvalidRequestError
from unmask.search.plan import SearchPlan
from unmask.service import SearchMethod


def asked_search(options: DiffusionOptions, delivery: Delivery) -> SearchPlan | None:
    """Return the search that is asked for; nothing where that is left to the policy.

    Raises:
        InvalidRequestError: a width or weights without a search that has them, or a search of what is sent as it is
            made.
    """
    method, width, weights = options.search, options.width, options.segment_weights
    if method in {None, SearchMethod.NONE} and (width or 1) > 1:
        raise InvalidRequestError(WIDTH, width, "1 or null without a search", "Send diffusion.search as well.")
    if weights is not None and (method is not SearchMethod.ROLLOVER or width == 1):
        allowed = f"null without search {str(SearchMethod.ROLLOVER)!r} and a width above 1"
        fix = "Nothing else has steps to share out among canvases: send both as well, or leave it out."
        raise InvalidRequestError(SEGMENT_WEIGHTS, AsJson(weights), allowed, fix)
    if method is None:
        return None if width is None else runs_once()
    if method is not SearchMethod.NONE and delivery in {Delivery.COMMITTED, Delivery.SNAPSHOTS}:
        raise InvalidRequestError(
            SEARCH,
            str(method),
            f"none or null with diffusion.stream {str(delivery)!r}",
            "What is sent as it is made cannot be taken back: send diffusion.stream: verified.",
        )
    if method is SearchMethod.NONE or width == 1:
        return runs_once()
    plan = SearchPlan(method=method, weights=tuple(weights or ()))
    return plan if width is None else replace(plan, width=width)
