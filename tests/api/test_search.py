"""Searches over HTTP: asked for in a request, paid for in its usage, sent once the answer is taken."""

from typing import Any

import pytest

from tests.api.client import CHAT, chat_body, client_of, make_app
from unmask.config import Settings
from unmask.service import ClassWork
from unmask.testing.fake_backend import STEPS, FakeBackend


async def chat(backend: FakeBackend, *, streams: bool = False, **diffusion: Any) -> Any:  # noqa: ANN401 - a response
    """Send a chat request."""
    async with client_of(make_app(backend)) as client:
        return await client.post(CHAT, json=chat_body(diffusion=diffusion, stream=streams))


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
    ],
)
async def test_what_cannot_be_searched_is_refused(diffusion: dict[str, Any], param: str) -> None:
    """Before anything runs; a text that is sent as it is made cannot be taken back."""
    backend = FakeBackend()
    response = await chat(backend, streams="stream" in diffusion, **diffusion)
    assert (response.status_code, response.json()["error"]["param"]) == (400, param)
    assert backend.requests == []


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
