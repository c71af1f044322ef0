"""Which search a request gets: the client's, the policy's, or none."""

from typing import Any

import pytest

from unmask.backend import Lever, Request
from unmask.control.asked import Asked
from unmask.control.budget import Assignment, BudgetSource
from unmask.control.search_choice import SearchChoice, SearchSource, choose_search, runs_once
from unmask.errors import InvalidRequestError
from unmask.policy.policy import SearchPolicy
from unmask.search.plan import SearchPlan
from unmask.service import SearchMethod
from unmask.testing.budget_policies import make_class_policy
from unmask.testing.builders import make_model
from unmask.testing.policies import make_assignment
from unmask.types import Bucket, Message, Role

CLIENTS = SearchPlan(method=SearchMethod.BREADTH, width=2)
HARD_ONLY = SearchPolicy(task="sort", method=SearchMethod.CANDIDATES, width=4, from_bucket=Bucket.L)
DEEP = SearchPolicy(task="latin", method=SearchMethod.DEPTH, width=3)
REQUEST = Request(model="tiny", messages=(Message(role=Role.USER, content="차례로"),), max_tokens=64, canvas_length=32)


def given(task: str = "sort", bucket: Bucket | None = Bucket.L, **changes: Any) -> Assignment:  # noqa: ANN401 - any field
    """Return what a request of a class with searches was given."""
    entry = make_class_policy(searches=(HARD_ONLY, DEEP))
    fields: dict[str, Any] = {"service_class": entry, "source": BudgetSource.ESTIMATE}
    return make_assignment(task=task, bucket=bucket, **(fields | changes))


def choose(assignment: Assignment, *, verifier: bool = True, **asked: Any) -> SearchChoice | None:  # noqa: ANN401 - same
    """Choose for a request that says so much."""
    model = make_model(levers=asked.pop("levers", tuple(Lever)))
    return choose_search(REQUEST, Asked(**asked), assignment, model, total=99, has_verifier=verifier)


@pytest.mark.parametrize(
    ("task", "bucket", "method"),
    [
        ("sort", Bucket.L, SearchMethod.CANDIDATES),
        ("sort", Bucket.XL, SearchMethod.CANDIDATES),
        ("sort", Bucket.M, None),
        ("sort", None, None),
        ("latin", Bucket.XS, SearchMethod.DEPTH),
        ("latin", None, SearchMethod.DEPTH),
        ("default", Bucket.XL, None),
    ],
)
def test_the_policy_names_task_types_and_buckets(task: str, bucket: Bucket | None, method: SearchMethod | None) -> None:
    """Whatever it does not name is run once."""
    found = choose(given(task, bucket))
    assert (found.plan.method if found else None) == method
    assert found is None or (found.source, found.plan.max_total_steps) == (SearchSource.POLICY, 99)


@pytest.mark.parametrize("source", [BudgetSource.CLIENT, BudgetSource.EFFORT])
def test_who_names_steps_gets_no_more(source: BudgetSource) -> None:
    """A search of the policy would take several times as many."""
    assert choose(given(source=source)) is None


def test_what_the_client_says_comes_first() -> None:
    """Another search, or none."""
    found = choose(given(), search=CLIENTS)
    assert found is not None
    assert (found.plan.method, found.plan.width, found.source) == (SearchMethod.BREADTH, 2, SearchSource.CLIENT)
    assert choose(given(), search=runs_once()) is None


def test_the_policy_never_makes_a_request_fail() -> None:
    """Without a verifier, the model's levers, or time to wait there is no search."""
    assert choose(given("latin"), verifier=False) is None
    assert choose(given("latin"), levers=(Lever.BUDGET,)) is None
    assert choose(given(), may_wait=False) is None
    assert choose(make_assignment(task="sort")) is None


def test_a_control_run_is_of_the_request_itself() -> None:
    """What could not be run is refused all the same, so that the same request never sometimes works."""
    assert choose(given(is_control=True)) is None
    assert choose(given(is_control=True), search=CLIENTS) is None
    depth = SearchPlan(method=SearchMethod.DEPTH, width=2)
    with pytest.raises(InvalidRequestError, match="neither verifier nor threshold"):
        choose(given(is_control=True), search=depth, verifier=False)


def weighed(*weights: float) -> SearchPlan:
    """Return rollover with weights."""
    return SearchPlan(method=SearchMethod.ROLLOVER, width=2, weights=weights)


def test_weights_are_of_canvases_that_the_answer_may_have() -> None:
    """One too many is refused with how many there can be; for a single canvas they mean nothing."""
    assert choose(given(), search=weighed(1.0, 3.0)) is not None
    with pytest.raises(InvalidRequestError, match="at most 2 numbers") as caught:
        choose(given(), search=weighed(1.0, 3.0, 2.0))
    assert caught.value.param == "diffusion.segment_weights"
    single = Request(model="tiny", messages=REQUEST.messages, max_tokens=32, canvas_length=32)
    with pytest.raises(InvalidRequestError, match="one canvas"):
        choose_search(single, Asked(search=weighed(2.0)), given(), make_model(), total=None, has_verifier=True)
