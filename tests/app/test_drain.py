"""What a stop signal does to connections: `unmask.app.server` and `unmask.app.connection` together."""

import asyncio

import pytest
from starlette.types import Receive, Scope, Send

from tests.app.site import GET, HOST, open_site, post
from unmask.testing.fake_backend import FakeBackend
from unmask.testing.waiting import until


async def test_idle_connections_are_closed_at_once() -> None:
    """Those that never spoke and those between requests, while something else still runs."""
    gate = asyncio.Event()
    backend = FakeBackend(gate=gate)
    async with (
        open_site(backend) as site,
        await site.connect() as busy,
        await site.connect() as silent,
        await site.connect() as kept,
    ):
        await busy.send(post())
        await kept.send(GET)
        assert (await kept.answer()).status == 200
        await until(lambda: bool(backend.requests))
        site.server.stop()
        rests = [await silent.rest(), await kept.rest()]
        still_running = not site.serving.done()
        gate.set()
        answer, rest = await busy.answer(), await busy.rest()
        assert await site.serving == 0

    assert rests == [b"", b""]
    assert still_running
    assert (answer.status, answer.headers["connection"], rest) == (200, "close", b"")


async def test_every_answer_is_the_last_of_its_connection() -> None:
    """New connections are still taken: health says why to go elsewhere, requests are refused, and each is let go."""
    gate = asyncio.Event()
    backend = FakeBackend(gate=gate)
    async with open_site(backend) as site, await site.connect() as begun, await site.connect() as busy:
        await busy.send(post())
        await begun.send(GET[:10])
        await until(lambda: bool(backend.requests))
        site.server.stop()
        await until(lambda: bool(site.said))
        await begun.send(GET[10:])
        answers = [await begun.answer(), await site.exchange(GET), await site.exchange(post())]
        gate.set()
        await site.serving

    assert [answer.status for answer in answers] == [503, 503, 503]
    assert [answer.headers["connection"] for answer in answers] == ["close"] * 3
    assert answers[0].json()["reasons"] == ["draining"]
    assert answers[2].code == "draining"


async def test_requests_sent_ahead_are_answered_while_draining() -> None:
    """On a connection that is kept alive, what arrived before the signal is answered, and the last says so."""
    gate = asyncio.Event()
    backend = FakeBackend(gate=gate)
    async with open_site(backend) as site, await site.connect() as wire:
        await wire.send(post() + post())
        await until(lambda: bool(backend.requests))
        site.server.stop()
        await until(lambda: bool(site.said))
        gate.set()
        answers, rest = [await wire.answer(), await wire.answer()], await wire.rest()
        await site.serving

    assert [(answer.status, answer.headers.get("connection")) for answer in answers] == [(200, None), (503, "close")]
    assert rest == b""


class Streaming:
    """An application that streams a line at once and another at the end."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.begun = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Stream."""
        if scope["type"] != "http":
            return
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"first\n", "more_body": True})
        self.begun.set()
        await self.gate.wait()
        await send({"type": "http.response.body", "body": b"last\n"})


class Waiting(FakeBackend):
    """A backend that is busy for as long as a stream runs."""

    def __init__(self, app: Streaming) -> None:
        super().__init__()
        self._app = app

    async def drain(self) -> None:
        """Wait for the stream."""
        await self._app.gate.wait()


async def test_open_stream_is_finished() -> None:
    """To its last line, and then its connection ends."""
    app = Streaming()
    async with open_site(Waiting(app), app) as site, await site.connect() as wire:
        await wire.send(GET)
        await app.begun.wait()
        site.server.stop()
        await until(lambda: bool(site.said))
        app.gate.set()
        data = await wire.rest()
        assert await site.serving == 0

    assert data.endswith(b"6\r\nfirst\n\r\n5\r\nlast\n\r\n0\r\n\r\n")


@pytest.mark.parametrize("twice", [False, True])
async def test_stream_that_outlasts_the_drain_does_not_hold_the_server(
    twice: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither past the deadline nor past a second signal; its client sees that the answer is not whole."""
    monkeypatch.setattr("unmask.app.server.FLUSH_S", 0.05)
    app = Streaming()
    async with open_site(Waiting(app), app, drain_s=3600 if twice else 0.05) as site, await site.connect() as wire:
        await wire.send(GET)
        await app.begun.wait()
        site.server.stop()
        if twice:
            site.server.stop()
        async with asyncio.timeout(10):
            await site.serving
        data = await wire.rest()

    assert b"first\n" in data
    assert not data.endswith(b"0\r\n\r\n")


async def test_connection_that_brings_a_request_slowly_does_not_hold_the_server() -> None:
    """When all is finished, half a request is nothing to wait for."""
    async with open_site() as site, await site.connect() as wire:
        await wire.send(b"GET /health HTTP/1.1\r\n" + HOST)
        await until(lambda: bool(site.server.server_state.connections))
        assert await site.stop() == 0
        assert await wire.rest() == b""
