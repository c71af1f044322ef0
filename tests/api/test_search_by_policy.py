"""Searches over HTTP that nobody asked for: the policy has them for requests that look hard."""

from typing import Any

import pytest

from tests.api.client import CHAT, chat_body, client_of, make_app
from unmask.control.parts import ControlParts
from unmask.control.sources import Estimate
from unmask.policy.policy import BudgetMode, SearchPolicy
from unmask.service import SearchMethod
from unmask.testing.budget_policies import make_class_policy, make_task_policy
from unmask.testing.fake_backend import STEPS, FakeBackend
from unmask.testing.policies import FakeClassifier, FakeEstimator, FakeEstimators, FakePolicies, make_active
from unmask.types import Bucket

EASY, HARD = "sort 3 , 1", "sort 9 , 8 , 7 , 6"
ESTIMATES = {
    EASY: Estimate(score=2.0, bin=0, is_sure=True),
    HARD: Estimate(score=4.0, bin=4, is_sure=True),
}
SEARCH = SearchPolicy(task="sort", method=SearchMethod.CANDIDATES, width=3, from_bucket=Bucket.L)


def parts() -> ControlParts:
    """Return a policy whose default class searches hard lists, and no control runs."""
    active = make_active(
        make_task_policy("sort", mode=BudgetMode.ADAPTIVE),
        classes=(
            make_class_policy(max_steps=16, re_expansions=0, searches=(SEARCH,)),
            make_class_policy("batch", re_expansions=0),
        ),
    )
    return ControlParts(
        policies=FakePolicies(active),
        estimators=FakeEstimators(FakeEstimator(ESTIMATES)),
        classifier=FakeClassifier(lambda text: "sort" if text.startswith("sort") else None),
        draw=lambda: 0.99,
    )


async def spent(content: str, *, n: int = 1, **diffusion: Any) -> dict[str, Any]:  # noqa: ANN401 - any field
    """Return what an answer says it cost in steps."""
    messages = [{"role": "user", "content": content}]
    async with client_of(make_app(FakeBackend(), parts=parts())) as client:
        response = await client.post(CHAT, json=chat_body(messages=messages, n=n, diffusion=diffusion))
    assert response.status_code == 200, response.text
    return dict(response.json()["usage"]["diffusion"])


async def test_what_looks_hard_is_searched_and_said() -> None:
    """By class, task type and bucket; its steps are counted."""
    found = await spent(HARD)

    assert found["bucket"] == "L"
    assert found["search"] == {
        "method": "candidates",
        "width": 3,
        "source": "policy",
        "limit": None,
        "dropped": 0,
        "reward": None,
    }
    assert (found["steps_used"], found["steps_search"]) == (3 * STEPS, 2 * STEPS)


@pytest.mark.parametrize(
    ("content", "diffusion"),
    [
        (EASY, {}),
        ("무엇입니까?", {}),
        (HARD, {"service_class": "batch"}),
        (HARD, {"search": "none"}),
        (HARD, {"width": 1}),
        (HARD, {"max_steps": 16}),
    ],
    ids=["easy", "another type", "another class", "switched off", "width 1", "steps named"],
)
async def test_all_others_are_run_once(content: str, diffusion: dict[str, Any]) -> None:
    """Who asks for no search, or names steps, has the last word."""
    found = await spent(content, **diffusion)
    assert (found["search"], found["steps_used"]) == (None, STEPS)


async def test_a_search_that_is_asked_for_comes_first() -> None:
    """It may be another one, or wider."""
    found = await spent(HARD, search="candidates", width=2)
    assert (found["search"]["source"], found["search"]["width"], found["steps_used"]) == ("client", 2, 2 * STEPS)


async def test_choices_are_searched_each_by_itself() -> None:
    """Their searches are told together."""
    found = await spent(HARD, n=2)
    assert (found["search"]["width"], found["steps_used"], found["steps_search"]) == (3, 6 * STEPS, 4 * STEPS)


async def test_a_stream_waits_for_what_is_taken_unless_it_is_sent_as_it_is_made() -> None:
    """``committed`` switches the policy's search off, as it does further attempts."""
    messages = [{"role": "user", "content": HARD}]
    for detail, runs in ((None, 3), ("committed", 1)):
        backend = FakeBackend()
        async with client_of(make_app(backend, parts=parts())) as client:
            body = chat_body(messages=messages, stream=True, diffusion={"stream": detail})
            assert (await client.post(CHAT, json=body)).status_code == 200
        assert len(backend.requests) == runs
