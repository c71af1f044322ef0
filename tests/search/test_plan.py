"""Searches that are refused, and why."""

from typing import Any

import pytest

from unmask.backend import Lever
from unmask.errors import InvalidRequestError
from unmask.search.plan import BreadthPlan, DepthPlan, SearchPlan, check_plan
from unmask.service import SearchMethod
from unmask.testing.builders import make_model


@pytest.mark.parametrize(
    ("param", "changes"),
    [
        ("diffusion.width", {"width": 0}),
        ("diffusion.width", {"width": 1_000}),
        ("diffusion.max_total_steps", {"max_total_steps": 0}),
        ("search.temperature", {"temperature": 2.5}),
        ("search.temperature", {"temperature": float("nan")}),
        ("search.depth.back", {"depth": DepthPlan(back=0)}),
        ("search.depth.every", {"depth": DepthPlan(every=1)}),
        ("search.threshold", {"threshold": 0.5}),
        ("search.breadth.every", {"breadth": BreadthPlan(every=1)}),
        ("search.breadth.sharpness", {"breadth": BreadthPlan(sharpness=0.0)}),
        ("search.weights", {"weights": (1.0, 0.0)}),
    ],
)
def test_a_value_that_is_not_allowed_is_named(param: str, changes: dict[str, Any]) -> None:
    """With what is allowed, and how to mend it."""
    with pytest.raises(InvalidRequestError) as caught:
        check_plan(SearchPlan(**changes), make_model(), has_verifier=True)
    assert caught.value.param == param


@pytest.mark.parametrize("method", [SearchMethod.DEPTH, SearchMethod.ROLLOVER])
def test_accepting_needs_something_that_judges(method: SearchMethod) -> None:
    """A verifier or a threshold; candidates and breadth compare and need neither."""
    check_plan(SearchPlan(method=method), make_model(), has_verifier=True)
    check_plan(SearchPlan(method=method, threshold=-0.1), make_model(), has_verifier=False)
    check_plan(SearchPlan(method=SearchMethod.CANDIDATES), make_model(), has_verifier=False)
    check_plan(SearchPlan(method=SearchMethod.BREADTH), make_model(), has_verifier=False)
    with pytest.raises(InvalidRequestError, match="neither verifier nor threshold"):
        check_plan(SearchPlan(method=method), make_model(), has_verifier=False)


@pytest.mark.parametrize("method", list(SearchMethod))
def test_a_model_without_drafts_has_candidates_only(method: SearchMethod) -> None:
    """What another server runs is taken as a whole or not at all."""
    model = make_model(levers=(Lever.LOGPROBS,))
    if method in {SearchMethod.NONE, SearchMethod.CANDIDATES}:
        check_plan(SearchPlan(method=method), model, has_verifier=True)
        return
    with pytest.raises(InvalidRequestError, match="has no budget"):
        check_plan(SearchPlan(method=method), model, has_verifier=True)
