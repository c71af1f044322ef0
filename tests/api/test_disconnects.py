"""Clients that leave, and clients that stay and do not read."""

import asyncio
import json
import logging
from typing import Any

import pytest

from tests.api.client import CHAT, chat_body, client_of, make_app
from tests.api.raw_client import RawClient
from tests.api.sse_events import parse_stream
from unmask.api.event_stream import StreamPace
from unmask.api.running import Running
from unmask.backend import Request
from unmask.testing.scripted_backend import Line, ScriptedBackend
from unmask.testing.speech import speak
from unmask.testing.waiting import until

TEXT = "안녕, 세계 🙂!"
BODY = json.dumps(chat_body(n=2, stream=True, diffusion={"stream": "snapshots"})).encode()
PATIENT = StreamPace(comment_s=60, stalled_s=60)


def spoken(request: Request, _: int) -> list[Line]:
    """Say the text."""
    return list(speak(request, TEXT))


def held(request: Request, _: int) -> list[Line]:
    """Say the text, but not the end of it."""
    return [*speak(request, TEXT)[:-1], asyncio.Event()]


def hanging_up_at(place: int) -> RawClient:
    """Return a client that leaves at a message."""

    def on_message(client: RawClient) -> None:
        if len(client.sent) == place:
            client.hung_up.set()

    return RawClient(BODY, on_message=on_message)


async def test_hanging_up_at_any_message_leaves_nothing_running() -> None:
    """Wherever a stream is left, every choice has let go by the time the server is done with it."""
    place, sent = 0, 1
    while place < sent:
        place += 1
        backend, running = ScriptedBackend(spoken), Running(2)
        client = hanging_up_at(place)
        async with asyncio.timeout(5):
            await client.call(make_app(backend, running=running, pace=PATIENT))
        sent = len(client.sent)

        assert (backend.open, running.count) == (0, 0)
    assert place > 10


@pytest.mark.parametrize("place", range(1, 10))
async def test_hanging_up_aborts_what_has_not_ended(place: int) -> None:
    """Generations that would go on are stopped, both of them, and the answer has no end."""
    backend, running = ScriptedBackend(held), Running(2)
    client = hanging_up_at(place)
    async with asyncio.timeout(5):
        await client.call(make_app(backend, running=running, pace=PATIENT))

    assert (backend.open, backend.aborted, running.count) == (0, 2, 0)
    assert client.sent[-1].get("more_body", True)


@pytest.mark.parametrize("changes", [{}, {"stream": True}, {"stream": True, "diffusion": {"stream": "snapshots"}}])
async def test_hanging_up_before_anything_is_said(changes: dict[str, Any]) -> None:
    """While the first canvas is awaited a client is missed as soon as later."""
    backend, running = ScriptedBackend(lambda *_: [asyncio.Event()]), Running(2)
    client = RawClient(json.dumps(chat_body(n=2, **changes)).encode())
    calling = asyncio.create_task(client.call(make_app(backend, running=running, pace=PATIENT)))
    await until(lambda: backend.open == 2)
    client.hung_up.set()
    async with asyncio.timeout(5):
        await calling

    assert (backend.open, backend.aborted, running.count) == (0, 2, 0)


async def test_hanging_up_without_ever_reading() -> None:
    """A client that takes no byte and leaves is missed although the server waits to send to it."""
    for reads in range(4):
        backend, running = ScriptedBackend(held), Running(2)
        client = RawClient(BODY, reads=reads)
        calling = asyncio.create_task(client.call(make_app(backend, running=running, pace=PATIENT)))
        await until(lambda client=client, reads=reads: len(client.sent) == reads)  # type: ignore[misc]
        await until(lambda backend=backend: backend.open == 2)  # type: ignore[misc]
        client.hung_up.set()
        # The answer to a client that left before the headers is sent to nobody, which uvicorn drops.
        client._reads = None
        async with asyncio.timeout(5):
            await calling

        assert (backend.open, running.count) == (0, 0)


async def test_client_that_does_not_read_is_given_up(caplog: pytest.LogCaptureFixture) -> None:
    """After its time is over the generation ends, the answer stays unfinished, and the log says why."""
    backend, running = ScriptedBackend(held), Running(2)
    client = RawClient(BODY, reads=2)
    with caplog.at_level(logging.INFO):
        async with asyncio.timeout(5):
            await client.call(make_app(backend, running=running, pace=StreamPace(comment_s=60, stalled_s=0.01)))

    assert (backend.open, backend.aborted, running.count) == (0, 2, 0)
    assert client.sent[-1]["more_body"]
    assert "read nothing of its answer for 0.01 s" in caplog.text


async def test_client_that_does_not_read_holds_up_nobody() -> None:
    """The engine says all it has to say, and others are served, while one client reads nothing."""
    backend, running = ScriptedBackend(spoken), Running(4)
    app = make_app(backend, running=running, pace=PATIENT)
    deaf = RawClient(BODY, reads=1)
    calling = asyncio.create_task(deaf.call(app))
    await until(lambda: len(backend.requests) == 2 and backend.open == 0)
    async with client_of(app) as client:
        response = await client.post(CHAT, content=BODY)
    still_waiting = not calling.done()
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling

    assert still_waiting
    assert parse_stream(response.content).done
    assert running.count == 0


async def test_late_reader_misses_drafts_and_no_text() -> None:
    """Whoever reads again gets all text, and of the drafts that piled up only the last of each choice."""
    reading = asyncio.Event()

    class LateReader(RawClient):
        async def send(self, message: dict[str, object]) -> None:  # type: ignore[override]
            if len(self.sent) == 1:
                await reading.wait()
            await super().send(message)

    backend = ScriptedBackend(spoken)
    client = LateReader(BODY)
    calling = asyncio.create_task(client.call(make_app(backend, pace=PATIENT)))
    await until(lambda: len(backend.requests) == 2 and backend.open == 0)
    reading.set()
    await calling
    found = parse_stream(client.text)

    assert [found.text(index) for index in (0, 1)] == [TEXT, TEXT]
    assert found.done
    shown = [(shot["index"], shot["canvas"], shot["step"]) for shot in found.snapshots]
    last = max(canvas for _, canvas, _ in shown)
    # What was written before the reader was awaited, and then the last of each.
    assert shown == [(0, 0, 1), (1, 0, 1), (0, last, 2), (1, last, 2)]
