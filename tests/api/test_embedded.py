"""Calls served by the model in the package."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from tests.api.calls import CHAT_CALLS, TEXT_CALLS, app_of, make_call
from tests.api.client import client_of
from tests.api.raw_client import RawClient
from tests.api.sse_events import parse_stream
from unmask.api.call import Call, Delivery
from unmask.api.running import Running
from unmask.local.backend import LocalBackend
from unmask.local.build import build_local_backend
from unmask.types import StepBudget

NAME = "nano"


@pytest.fixture(name="backend")
async def _backend() -> AsyncIterator[LocalBackend]:
    backend = build_local_backend((NAME,))
    yield backend
    await backend.drain()


def call_for(backend: LocalBackend, delivery: Delivery, temperature: float = 0.0) -> Call:
    """Return a call of three choices with canvases so short that characters are split between them."""
    call = make_call(["sort 5 , 3 , 9", "안녕 한글 🙂", "add 12 + 30"], delivery=delivery, temperature=temperature)
    (model,) = backend.models()
    requests = tuple(
        replace(
            request, model=NAME, canvas_length=min(model.canvas_lengths), budget=StepBudget(max_steps=4), max_tokens=48
        )
        for request in call.requests
    )
    return replace(call, model=model, requests=requests, include_usage=True)


@pytest.mark.parametrize("path", [CHAT_CALLS, TEXT_CALLS])
@pytest.mark.parametrize("temperature", [0.0, 1.5])
async def test_stream_says_what_the_whole_answer_says(backend: LocalBackend, path: str, temperature: float) -> None:
    """The same seeds give the same text, whole or streamed, with drafts or without, at the same cost."""
    bodies = {}
    for delivery in Delivery:
        async with client_of(app_of(backend, call_for(backend, delivery, temperature))) as client:
            response = await client.post(path, json={})
        assert response.status_code == 200
        bodies[delivery] = response
    whole = bodies[Delivery.WHOLE].json()
    texts = [choice["message"]["content"] if "message" in choice else choice["text"] for choice in whole["choices"]]
    for delivery in (Delivery.COMMITTED, Delivery.SNAPSHOTS):
        found = parse_stream(bodies[delivery].content)

        assert [found.text(index) for index in range(3)] == texts
        diffusion = found.chunks[-1]["usage"]["diffusion"]
        assert diffusion == whole["usage"]["diffusion"]
        assert found.done
    assert parse_stream(bodies[Delivery.SNAPSHOTS].content).snapshots


async def test_hanging_up_stops_the_engine(backend: LocalBackend) -> None:
    """After a client has left in the middle of its stream nothing is left to drain."""
    running = Running(3)
    client = RawClient(path=CHAT_CALLS, on_message=lambda client: client.hung_up.set())
    await client.call(app_of(backend, call_for(backend, Delivery.SNAPSHOTS), running=running))

    assert running.count == 0
    assert client.sent[-1].get("more_body", True)
