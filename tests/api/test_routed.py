"""Requests over HTTP to a route: which model serves them, and what is said and booked of it."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.api.client import CHAT, chat_body, client_of, make_app, user
from tests.api.sse_events import parse_stream
from unmask.backend import Request
from unmask.control.parts import ControlParts
from unmask.control.route import RouteFit
from unmask.control.routing import Routes
from unmask.errors import NoCapacityError
from unmask.ledger.settlement import Purpose
from unmask.policy.policy import AtCap
from unmask.testing.budget_policies import make_class_policy, make_task_policy
from unmask.testing.builders import make_model
from unmask.testing.fake_backend import FakeBackend
from unmask.testing.ledgers import MemoryLedger
from unmask.testing.policies import DIGEST, FakePolicies, make_active
from unmask.testing.routes import make_fit, make_routes, make_task_route

TASK = "count"
"""A task type of no verifier of its own, so that what the request asks for is all that answers are held to."""
EASY, HARD = "3 부터 1", "9 부터 8 까지 7"
NUMBER = {"kind": "numeric", "minimum": 10}


def routes_over(fit: RouteFit | None = None, **changes: Any) -> Routes:  # noqa: ANN401 - any field of the route
    """Return a route over two models that know the task type."""
    fit = fit or make_fit(tasks={TASK: make_task_route()})
    return make_routes(large=make_model("tiny", tasks=(TASK,)), fit=fit, **changes)


def by_model(nano: str = "42", tiny: str = "77") -> FakeBackend:
    """Answer by the model that is asked."""
    return FakeBackend(lambda request: nano if request.model == "nano" else tiny)


async def ask(
    backend: FakeBackend | None = None,
    content: str = EASY,
    *,
    parts: ControlParts | None = None,
    diffusion: dict[str, Any] | None = None,
    **changes: Any,  # noqa: ANN401 - any field of the body
) -> httpx.Response:
    """Ask the route to count, and for a number from 10 up."""
    options = {"task": TASK, "verify": [NUMBER]} | (diffusion or {})
    body = chat_body(model="auto", messages=user(content), diffusion=options, **changes)
    async with client_of(make_app(backend or by_model(), parts=parts or ControlParts(routes=routes_over()))) as client:
        return await client.post(CHAT, json=body)


def route(response: httpx.Response) -> dict[str, Any]:
    """Return what an answer says of its route."""
    assert response.status_code == 200, response.text
    return dict(response.json()["usage"]["diffusion"]["route"])


def content(response: httpx.Response) -> str:
    """Return the text of an answer."""
    return str(response.json()["choices"][0]["message"]["content"])


async def test_an_easy_request_is_served_by_the_small_model() -> None:
    """The answer is the route's by name and digest, and its usage says which model it was."""
    backend = by_model()
    answer = await ask(backend)

    assert (content(answer), answer.json()["model"]) == ("42", "auto")
    assert answer.json()["system_fingerprint"] == routes_over().models[0].digest
    assert route(answer) == {
        "model": "nano",
        "escalated": False,
        "reason": "likely",
        "probability": 0.9,
        "steps_small": 4,
    }
    assert [request.model for request in backend.requests] == ["nano"]


async def test_a_hard_request_goes_to_the_large_model_at_once() -> None:
    """Nothing of the small one is charged."""
    answer = await ask(content=HARD)

    assert content(answer) == "77"
    assert route(answer) == {
        "model": "tiny",
        "escalated": False,
        "reason": "unlikely",
        "probability": 0.1,
        "steps_small": 0,
    }


async def test_a_failed_answer_is_the_large_models_and_one_booking() -> None:
    """Both attempts are in it, each by its model, and the reservation covers both."""
    ledger = MemoryLedger()
    answer = await ask(by_model(nano="3"), parts=ControlParts(routes=routes_over(), ledger=ledger))
    (reservation,), (settlement,) = ledger.reservations.values(), ledger.settlements.values()

    assert content(answer) == "77"
    assert (route(answer)["model"], route(answer)["escalated"], route(answer)["steps_small"]) == ("tiny", True, 4)
    assert answer.json()["usage"]["diffusion"]["steps_used"] == 8
    assert answer.json()["usage"]["diffusion"]["reexpansions"] == 1
    assert [(one.model, one.purpose, one.steps) for one in settlement.attempts] == [
        ("nano", Purpose.ANSWER, 4),
        ("tiny", Purpose.RE_EXPANSION, 4),
    ]
    assert settlement.accepted
    assert (reservation.model, reservation.steps) == ("auto", 128)


async def test_a_small_model_that_is_down_is_visible_and_costs_nothing() -> None:
    """The large one answers; the metrics tell that the small one was not there."""

    def down(request: Request) -> str:
        if request.model == "nano":
            raise NoCapacityError("nano is down")
        return "77"

    app = make_app(FakeBackend(down), parts=ControlParts(routes=routes_over()))
    async with client_of(app) as client:
        options = {"task": TASK, "verify": [NUMBER]}
        answer = await client.post(CHAT, json=chat_body(model="auto", messages=user(EASY), diffusion=options))
        metrics = (await client.get("/metrics")).text

    assert content(answer) == "77"
    assert (route(answer)["model"], route(answer)["escalated"], route(answer)["steps_small"]) == ("tiny", True, 0)
    assert 'unmask_route_decisions_total{reason="likely",route="auto"} 1.0' in metrics
    assert 'unmask_route_escalations_total{reason="unavailable",route="auto"} 1.0' in metrics
    assert 'unmask_route_steps_total{model="tiny",route="auto"} 4.0' in metrics


async def test_a_small_model_that_is_not_loaded_is_told_in_notes() -> None:
    """All requests go to the large one, and whoever runs the server reads why."""
    app = make_app(by_model(), parts=ControlParts(routes=routes_over(small=None)))
    async with client_of(app) as client:
        answer = await client.post(CHAT, json=chat_body(model="auto"))
        notes = (await client.get("/health")).json()["notes"]
        entry = (await client.get("/v1/models/auto")).json()

    assert (route(answer)["model"], route(answer)["reason"]) == ("tiny", "unavailable")
    assert any("nano is not loaded" in note for note in notes)
    assert entry["route"] == {
        "small": "nano",
        "large": "tiny",
        "is_small_loaded": False,
        "fit": make_fit().digest,
        "threshold": None,
    }


async def test_routes_are_listed_beside_models() -> None:
    """With what may be asked of them; models have no route."""
    async with client_of(make_app(by_model(), parts=ControlParts(routes=routes_over()))) as client:
        entries = (await client.get("/v1/models")).json()["data"]
        unknown = await client.post(CHAT, json=chat_body(model="autos"))

    assert [(entry["id"], "route" in entry) for entry in entries] == [("tiny", False), ("nano", False), ("auto", True)]
    assert unknown.status_code == 404
    assert "auto" in unknown.json()["error"]["message"]


@pytest.mark.parametrize(
    ("detail", "alone", "text"),
    [("verified", None, "77"), ("committed", 0.5, "3"), ("committed", None, "77"), (None, None, "77")],
)
async def test_streams_escalate_only_where_text_waits_to_be_accepted(
    detail: str | None, alone: float | None, text: str
) -> None:
    """A committed stream is the chosen model's as it is, chosen by the threshold for answers that are the last."""
    fit = make_fit(tasks={TASK: make_task_route(threshold_alone=alone)})
    stream = {} if detail is None else {"stream": detail}
    answer = await ask(by_model(nano="3"), parts=ControlParts(routes=routes_over(fit)), stream=True, diffusion=stream)
    pieces = parse_stream(answer.content).chunks

    said = "".join(choice["delta"].get("content") or "" for chunk in pieces for choice in chunk["choices"])
    assert said == text


async def test_a_client_that_wants_no_further_attempt_gets_none() -> None:
    """Its answer is the last, so it goes by the threshold of those."""
    answer = await ask(by_model(nano="3"), diffusion={"max_reexpansions": 0})

    assert (content(answer), route(answer)["reason"]) == ("77", "never")


async def test_the_total_of_a_request_holds_for_both_models() -> None:
    """What the small one has taken is not there for the large one."""
    backend = by_model(nano="3")
    answer = await ask(backend, diffusion={"max_total_steps": 6})

    assert [request.budget and request.budget.max_total_steps for request in backend.requests] == [6, 2]
    assert route(answer)["escalated"]


async def test_what_the_small_models_policy_does_not_allow_is_the_large_ones() -> None:
    """Here the small one has a class of fewer steps than are asked for."""
    active = make_active(classes=(make_class_policy(max_steps=4),))
    parts = ControlParts(routes=routes_over(), policies=FakePolicies(active, model="nano"))
    answer = await ask(parts=parts, diffusion={"max_steps": 8})

    assert (content(answer), route(answer)["reason"]) == ("77", "unfit")


async def test_an_error_of_the_request_is_the_large_models() -> None:
    """Whichever model it would have gone to."""
    active = make_active(classes=(make_class_policy(max_steps=4, at_cap=AtCap.FAIL),))
    parts = ControlParts(routes=routes_over(), policies=FakePolicies(active))
    answer = await ask(parts=parts, diffusion={"max_steps": 8})

    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "diffusion.max_steps")


@pytest.mark.parametrize(("first", "model"), [("42", "nano"), ("3", "tiny")])
async def test_usage_says_what_the_model_that_answers_was_given(first: str, model: str) -> None:
    """Its policy, its bucket and where that is from; the steps are those of both."""
    policies = FakePolicies(make_active(make_task_policy(TASK, default=4)), model=model)
    answer = await ask(by_model(nano=first), parts=ControlParts(routes=routes_over(), policies=policies))
    spent = answer.json()["usage"]["diffusion"]

    assert route(answer)["model"] == model
    assert (spent["policy"], spent["service_class"], spent["bucket"]) == (DIGEST[:12], "interactive", "S")
    assert spent["budget_source"] == "task"
    assert spent["steps_used"] == (4 if model == "nano" else 8)


async def test_choices_of_two_models_have_no_policy_in_common() -> None:
    """Each says its own."""
    policies = FakePolicies(make_active(make_task_policy(TASK, default=4)))
    answer = await ask(FakeBackend(alternating()), parts=ControlParts(routes=routes_over(), policies=policies), n=2)
    spent = answer.json()["usage"]["diffusion"]

    assert (spent["policy"], spent["bucket"]) == ("mixed", None)
    assert {choice["diffusion"]["bucket"] for choice in answer.json()["choices"]} == {"S", None}


def alternating() -> Callable[[Request], str]:
    """Let the small model fail every second time."""
    seen: list[Request] = []

    def answer(request: Request) -> str:
        if request.model == "tiny":
            return "77"
        seen.append(request)
        return "42" if len(seen) % 2 else "3"

    return answer


async def test_choices_are_told_apart() -> None:
    """Each has a route of its own; together the models differ, and one was escalated."""
    answer = await ask(FakeBackend(alternating()), n=2)
    routes = [choice["diffusion"]["route"] for choice in answer.json()["choices"]]

    assert sorted((one["model"], one["escalated"]) for one in routes) == [("nano", False), ("tiny", True)]
    assert (route(answer)["model"], route(answer)["escalated"], route(answer)["reason"]) == ("mixed", True, "likely")


async def test_a_model_that_is_asked_for_itself_has_no_route() -> None:
    """Its answers are as they were."""
    async with client_of(make_app(by_model(), parts=ControlParts(routes=routes_over()))) as client:
        answer = await client.post(CHAT, json=chat_body(model="nano"))

    assert "route" not in answer.json()["usage"]["diffusion"]
