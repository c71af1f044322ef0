"""Searches over HTTP: asked for in a request, paid for in its usage, sent once the answer is taken."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from tests.api.client import CHAT, chat_body, client_of, make_app
from unmask.config import Settings
from unmask.control.parts import ControlParts
from unmask.load import ModelLoad
from unmask.remote.key import Key
from unmask.search.reward import RewardDesk
from unmask.search.reward_endpoint import RewardEndpoint
from unmask.service import ClassWork
from unmask.testing.budget_policies import make_class_policy
from unmask.testing.fake_backend import IDLE_QUEUE, STEPS, FakeBackend
from unmask.testing.fake_upstream import Exchange, FakeUpstream
from unmask.testing.manual_clock import ManualClock
from unmask.testing.policies import FakePolicies, make_active
from unmask.testing.waiting import until

ROLLOVER: dict[str, Any] = {"search": "rollover", "width": 2, "verify": [{"kind": "regex", "pattern": "x+"}]}
CANDIDATES = ["하나", "둘", "셋"]


async def chat(backend: FakeBackend, *, streams: bool = False, **diffusion: Any) -> Any:  # noqa: ANN401 - a response
    """Send a chat request."""
    async with client_of(make_app(backend)) as client:
        return await client.post(CHAT, json=chat_body(diffusion=diffusion, stream=streams))


async def searched(app: FastAPI, **diffusion: Any) -> tuple[str, dict[str, Any], str]:  # noqa: ANN401 - any field
    """Return an answer's text, what it says of its search, and the metrics after it."""
    async with client_of(app) as client:
        response = await client.post(CHAT, json=chat_body(diffusion={"search": "candidates"} | diffusion))
        assert response.status_code == 200, response.text
        found = response.json()
        metrics = (await client.get("/metrics")).text
    return found["choices"][0]["message"]["content"], found["usage"]["diffusion"]["search"], metrics


async def test_candidates_are_run_and_paid_for() -> None:
    """Two that agree are the answer; all of them are in its steps."""
    texts = iter(["하나", "둘", "둘"])
    backend = FakeBackend(lambda _: next(texts))
    response = await chat(backend, search="candidates", width=3)

    assert response.status_code == 200, response.text
    assert response.json()["choices"][0]["message"]["content"] == "둘"
    spent = response.json()["usage"]["diffusion"]
    assert (spent["steps_used"], spent["steps_search"]) == (3 * STEPS, 2 * STEPS)
    assert len({request.sampling.seed for request in backend.requests}) == 3


@pytest.mark.parametrize("diffusion", [{"search": "none", "width": 1}, {"search": "breadth", "width": 1}, {"width": 1}])
async def test_without_a_search_or_width_there_is_one_generation(diffusion: dict[str, Any]) -> None:
    """Width 1 is the request itself."""
    backend = FakeBackend()
    assert (await chat(backend, **diffusion)).status_code == 200
    assert len(backend.requests) == 1


async def test_a_stream_sends_what_is_taken() -> None:
    """Nothing of the other candidates."""
    texts = iter(["하나", "둘", "둘"])
    response = await chat(FakeBackend(lambda _: next(texts)), streams=True, search="candidates", width=3)
    assert response.status_code == 200
    assert "둘" in response.text
    assert "하나" not in response.text


@pytest.mark.parametrize(
    ("diffusion", "param"),
    [
        ({"search": "candidates", "width": 0}, "diffusion.width"),
        ({"search": "candidates", "width": 1_000}, "diffusion.width"),
        ({"search": "widest"}, "diffusion.search"),
        ({"search": "depth"}, "diffusion.search"),
        ({"width": 8}, "diffusion.width"),
        ({"search": "none", "width": 8}, "diffusion.width"),
        ({"search": "candidates", "stream": "committed"}, "diffusion.search"),
        ({"search": "rollover"}, "diffusion.search"),
        ({"segment_weights": [1, 2]}, "diffusion.segment_weights"),
        ({"search": "none", "segment_weights": [1, 2]}, "diffusion.segment_weights"),
        ({"search": "breadth", "segment_weights": [1, 2]}, "diffusion.segment_weights"),
        ({"search": "rollover", "width": 1, "segment_weights": [1, 2]}, "diffusion.segment_weights"),
        ({**ROLLOVER, "segment_weights": [1, -2]}, "diffusion.segment_weights[1]"),
        ({**ROLLOVER, "segment_weights": [1, 2, 3, 4, 5]}, "diffusion.segment_weights"),
    ],
)
async def test_what_cannot_be_searched_is_refused(diffusion: dict[str, Any], param: str) -> None:
    """Before anything runs; a text that is sent as it is made cannot be taken back."""
    backend = FakeBackend()
    response = await chat(backend, streams="stream" in diffusion, **diffusion)
    assert (response.status_code, response.json()["error"]["param"]) == (400, param)
    assert backend.requests == []


@pytest.mark.parametrize(("weights", "runs"), [([1, 3], 6), ([1, 9], 4), (None, 8)])
async def test_segment_weights_share_out_the_steps(weights: list[float] | None, runs: int) -> None:
    """Of four canvases that have 128 steps together the first has 21, 16 or 32; no draw passes, and each takes 4.

    16 are those of a run, which no canvas is denied. The last draw has what is left, and none is drawn more than 8
    times.
    """
    backend = FakeBackend()
    response = await chat(backend, **ROLLOVER, segment_weights=weights)
    assert response.status_code == 200, response.text
    assert len(backend.requests) == runs


class Crowded(FakeBackend):
    """A backend at which others are kept waiting as a test says."""

    queue = IDLE_QUEUE

    def load(self) -> tuple[ModelLoad, ...]:
        """Return what runs, and who waits."""
        return tuple(replace(one, queues=(self.queue,)) for one in super().load())


async def test_candidates_are_dropped_halfway_where_others_are_kept_waiting() -> None:
    """All but the one that the answer waits for; they have what others leave in any case."""
    gate = asyncio.Event()
    backend = Crowded(gate=gate)
    asking = asyncio.ensure_future(searched(make_app(backend), width=4))
    await until(lambda: len(backend.requests) == 4)
    assert not backend.aborted
    backend.queue = replace(IDLE_QUEUE, waiting=3, oldest_s=1.0)
    await until(lambda: len(backend.aborted) == 3)
    gate.set()
    text, search, metrics = await asking

    assert (text, search["limit"], search["dropped"]) == ("42", "pressed", 3)
    assert [request.terms.name for request in backend.requests] == ["", ":spare", ":spare", ":spare"]
    assert backend.requests[0] not in backend.aborted
    assert 'unmask_search_dropped_total{limit="pressed",model="tiny"} 3.0' in metrics
    assert 'unmask_searches_total{method="candidates",model="tiny",source="client"} 1.0' in metrics


class Filling(FakeBackend):
    """A server whose work grows while it runs."""

    works: tuple[ClassWork, ...] = ()

    def load(self) -> tuple[ModelLoad, ...]:
        """Return what runs, and what it has to do."""
        return tuple(replace(one, works=self.works) for one in super().load())


async def test_a_level_that_falls_narrows_what_runs_and_is_told_apart_from_the_level_stamped() -> None:
    """The search was admitted at level 0 with eight candidates; level 1 for those that come later leaves it four."""
    gate = asyncio.Event()
    backend = Filling(gate=gate)
    app = make_app(backend)
    asking = asyncio.ensure_future(searched(app, width=8))
    await until(lambda: len(backend.requests) == 8)
    backend.works = (ClassWork(service_class="", forwards=9.0, drain_s=1.5, slack_s=1.0),)
    async with client_of(app) as client:
        await client.get("/health")
    await until(lambda: len(backend.aborted) == 4)
    gate.set()
    _, search, metrics = await asking

    assert (search["width"], search["limit"], search["dropped"]) == (8, "narrowed", 4)
    assert backend.aborted == backend.requests[4:]
    assert 'unmask_search_dropped_total{limit="narrowed",model="tiny"} 4.0' in metrics
    assert 'unmask_quality_requests_total{level="0",model="tiny",service_class="none"} 1.0' in metrics


async def test_a_deadline_counts_from_the_arrival() -> None:
    """A body that takes longer than the class allows leaves time for one answer only."""
    clock, backend = ManualClock(), FakeBackend()
    active = make_active(classes=(make_class_policy(deadline_s=4.0, re_expansions=0),))
    app = make_app(backend, parts=ControlParts(policies=FakePolicies(active), draw=lambda: 0.99), clock=clock)

    async def body() -> AsyncIterator[bytes]:
        clock.advance(5.0)
        yield json.dumps(chat_body(diffusion={"search": "candidates", "width": 3})).encode()

    async with client_of(app) as client:
        response = await client.post(CHAT, content=body())

    search = response.json()["usage"]["diffusion"]["search"]
    assert (search["limit"], search["dropped"], len(backend.requests)) == ("deadline", 2, 1)


def rewarded(transport: httpx.AsyncBaseTransport | None, url: str = "http://reward.example") -> FastAPI:
    """Return an application whose candidates differ, and whose reward endpoint is behind a transport."""
    texts = iter(CANDIDATES)
    desk = RewardDesk(reward=RewardEndpoint(url, Key(), transport=transport), timeout_s=0.1)
    return make_app(FakeBackend(lambda _: next(texts)), parts=ControlParts(reward=desk))


def scoring(content: bytes) -> httpx.MockTransport:
    """Return a transport that answers everything alike."""
    return httpx.MockTransport(lambda _: httpx.Response(200, stream=httpx.ByteStream(content)))


def down(request: httpx.Request) -> httpx.Response:
    """Answer nothing: there is nobody."""
    raise httpx.ConnectError("no", request=request)


@pytest.mark.parametrize(
    ("transport", "text", "end"),
    [
        (scoring(b'{"scores": [0.1, 0.9, 0.2]}'), "둘", "used"),
        (scoring(b'{"scores": [0.1]}'), "하나", "nonsense"),
        (scoring(b"<html>"), "하나", "nonsense"),
        (httpx.MockTransport(down), "하나", "failed"),
    ],
    ids=["decides", "too few", "no scores", "down"],
)
async def test_a_reward_endpoint_decides_or_is_done_without(
    transport: httpx.MockTransport, text: str, end: str
) -> None:
    """The answer says which, and so do the metrics."""
    found, search, metrics = await searched(rewarded(transport), width=3)
    assert (found, search["reward"]) == (text, end)
    assert f'unmask_rewards_total{{model="tiny",result="{end}"}} 1.0' in metrics


async def test_a_reward_endpoint_that_hangs_is_given_up() -> None:
    """The answer is chosen without it."""

    async def hang(exchange: Exchange) -> None:
        await exchange.gone.wait()

    async with FakeUpstream(hang).listening() as there:
        found, search, _ = await searched(rewarded(None, there.url), width=3)
    assert (found, search["reward"]) == ("하나", "late")


def pressed_to(pressure: float) -> FakeBackend:
    """Return a backend with so much work that it takes so many times what requests may wait."""
    return FakeBackend("가나다", works=(ClassWork(service_class="", forwards=9.0, drain_s=pressure, slack_s=1.0),))


async def test_load_narrows_a_search_and_the_answer_says_so() -> None:
    """Work of 1.5 times what may wait leaves four candidates of eight; a request without a search is as it was."""
    backend = pressed_to(1.5)
    searched = await chat(backend, search="candidates", width=8)
    runs = len(backend.requests)
    plain = await chat(backend)

    assert searched.json()["usage"]["diffusion"]["quality_level"] == 1
    assert (runs, len(backend.requests)) == (4, 5)
    assert plain.json()["usage"]["diffusion"]["steps_used"] == STEPS


async def test_a_width_that_is_not_allowed_is_refused_under_load_too() -> None:
    """What load would make of it does not count."""
    response = await chat(pressed_to(9.0), search="candidates", width=1_000)

    assert (response.status_code, response.json()["error"]["param"]) == (400, "diffusion.width")


async def test_a_server_may_be_told_to_leave_searches_alone() -> None:
    """With a floor of 0 load takes nothing."""
    backend = pressed_to(9.0)
    async with client_of(make_app(backend, settings=Settings(quality_floor=0))) as client:
        body = chat_body(diffusion={"search": "candidates", "width": 4})
        spent = (await client.post(CHAT, json=body)).json()["usage"]["diffusion"]

    assert (len(backend.requests), spent["quality_level"]) == (4, 0)
