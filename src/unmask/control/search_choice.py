"""Which search a request gets: the one that it asks for, or that its policy has for requests that ask for none."""

from dataclasses import dataclass, replace
from enum import StrEnum

from unmask.backend import ModelInfo, Request
from unmask.control.asked import SEGMENT_WEIGHTS, Asked
from unmask.control.budget import Assignment, BudgetSource
from unmask.control.quality import QualityLevel
from unmask.errors import InvalidRequestError
from unmask.search.plan import SearchPlan, check_plan
from unmask.service import SearchMethod

_CLIENTS = frozenset({BudgetSource.CLIENT, BudgetSource.EFFORT})


class SearchSource(StrEnum):
    """Who asked for a search: the client, or the policy."""

    CLIENT = "client"
    POLICY = "policy"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchChoice:
    """A search that can be run, and who asked for it."""

    plan: SearchPlan
    source: SearchSource

    def at(self, level: QualityLevel) -> "SearchChoice":
        """Return it as wide as load allows."""
        return replace(self, plan=level.capped(self.plan))

    def within(self, steps: int) -> "SearchChoice":
        """Return it with so many steps for everything that runs."""
        return replace(self, plan=replace(self.plan, max_total_steps=steps))


def choose_search(
    request: Request, asked: Asked, given: Assignment, model: ModelInfo, *, total: int | None, has_verifier: bool
) -> SearchChoice | None:
    """Return how a request is searched, or nothing where it is run once.

    What the client asks for comes first, and ``none`` or width 1 switches off what the policy has. The policy's is for
    the task types and buckets that the request's service class names it for; it is left out where the client names its
    steps, where the text is sent as it is made, and where the model or the request lacks what it needs. A control run
    is not searched, for it is of the request itself.

    Args:
        request: in the client's words.
        asked: what of that the client has said.
        given: its task type, service class and bucket.
        model: which model answers.
        total: most steps of everything that runs for it.
        has_verifier: whether anything judges its answers.

    Raises:
        InvalidRequestError: the client asks for a search that cannot be run.
    """
    if asked.search is not None:
        if asked.search.runs_once:
            return None
        plan = replace(asked.search, max_total_steps=total)
        check_plan(plan, model, has_verifier=has_verifier)
        _check_weights(plan, request, model)
        return None if given.is_control else SearchChoice(plan=plan, source=SearchSource.CLIENT)
    plan_of_policy = None if given.is_control else _by_policy(asked, given)
    if plan_of_policy is None:
        return None
    plan = replace(plan_of_policy, max_total_steps=total)
    try:
        check_plan(plan, model, has_verifier=has_verifier)
    except InvalidRequestError:
        # The client has not asked for it, so it is no mistake of theirs.
        return None
    return SearchChoice(plan=plan, source=SearchSource.POLICY)


def _by_policy(asked: Asked, given: Assignment) -> SearchPlan | None:
    if given.service_class is None or given.source in _CLIENTS or not asked.may_wait:
        return None
    found = given.service_class.search_of(given.task, given.bucket)
    return None if found is None else SearchPlan(method=found.method, width=found.width)


def _check_weights(plan: SearchPlan, request: Request, model: ModelInfo) -> None:
    """Refuse weights of canvases that the answer cannot have."""
    length = request.canvas_length or model.default_canvas_length
    canvases = model.canvases_of(request.max_tokens or model.default_max_tokens, length)
    if plan.weights and not 2 <= canvases >= len(plan.weights):
        allowed = f"at most {canvases} numbers" if canvases > 1 else "null for an answer of one canvas"
        raise InvalidRequestError(
            SEGMENT_WEIGHTS,
            f"{len(plan.weights)} numbers",
            allowed,
            f"max_tokens allows {canvases} canvases of {length} tokens: raise it, or leave weights out.",
        )


def runs_once() -> SearchPlan:
    """Return the plan of a request whose client wants no search, whatever the policy has."""
    return SearchPlan(method=SearchMethod.NONE, width=1)
