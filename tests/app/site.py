"""A running server over a fake, and clients of it that speak in bytes."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, Self

import httpx
from starlette.types import ASGIApp

from unmask.api.application import create_app, system_chance
from unmask.api.event_stream import StreamPace
from unmask.api.running import Running
from unmask.app.serve import listen, url_of
from unmask.app.server import DrainingServer
from unmask.backend import Backend
from unmask.config import Settings
from unmask.testing.fake_backend import FakeBackend
from unmask.testing.waiting import until

CHAT = "/v1/chat/completions"
BODY = {"model": "tiny", "messages": [{"role": "user", "content": "add 1 + 1"}]}
LONGEST_S = 10.0
HOST = b"host: localhost\r\n"
GET = b"GET /health HTTP/1.1\r\n" + HOST + b"\r\n"


def post(body: bytes | None = None, *headers: bytes, target: bytes = CHAT.encode()) -> bytes:
    """Return a chat request as it goes over the wire."""
    body = json.dumps(BODY).encode() if body is None else body
    lines = [b"POST %s HTTP/1.1" % target, b"host: localhost", b"content-length: %d" % len(body), *headers]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer as it came over the wire."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:  # noqa: ANN401 - as parsed
        """Return the parsed body."""
        return json.loads(self.body)

    @property
    def code(self) -> str:
        """The code of an error."""
        assert set(self.json()) == {"error"}
        return str(self.json()["error"]["code"])


class Wire:
    """A connection whose bytes the test decides on."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.hang_up()

    def hang_up(self) -> None:
        """Close, whatever is under way."""
        self._writer.transport.abort()

    async def send(self, data: bytes) -> bool:
        """Send, as far as anybody reads; return whether all was taken."""
        try:
            self._writer.write(data)
            async with asyncio.timeout(LONGEST_S):
                await self._writer.drain()
        except ConnectionError:
            return False
        return True

    async def answer(self) -> Answer:
        """Read one answer with a length."""
        async with asyncio.timeout(LONGEST_S):
            head = await self._reader.readuntil(b"\r\n\r\n")
            first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
            pairs = [line.split(": ", 1) for line in lines]
            headers = {name.lower(): value for name, value in pairs}
            assert len(headers) == len(pairs), f"a header is there twice: {lines}"
            body = await self._reader.readexactly(int(headers.get("content-length", "0")))
        return Answer(status=int(first.split()[1]), headers=headers, body=body)

    async def line(self) -> bytes:
        """Read one line."""
        async with asyncio.timeout(LONGEST_S):
            return await self._reader.readuntil(b"\n")

    async def byte(self) -> None:
        """Read one byte, if there is any."""
        try:
            async with asyncio.timeout(LONGEST_S):
                await self._reader.read(1)
        except ConnectionError:
            pass

    async def rest(self) -> bytes:
        """Read until the server hangs up."""
        data = bytearray()
        async with asyncio.timeout(LONGEST_S):
            try:
                while piece := await self._reader.read(1 << 16):
                    data += piece
            except ConnectionError:
                pass
        return bytes(data)


class Site:
    """A running server and what a test needs of it."""

    def __init__(self, backend: Backend, settings: Settings, app: ASGIApp | None, pace: StreamPace | None) -> None:
        numbers = count(1)
        self.said: list[str] = []
        self.listener = listen(settings)
        self.running = Running(100)
        self.app = app or create_app(backend, settings, self.running, system_chance(), pace=pace)
        self.server = DrainingServer(
            self.app, backend, self.running, settings, new_id=lambda: str(next(numbers)), say=self.said.append
        )
        self.url = url_of(self.listener)
        self.client = httpx.AsyncClient(base_url=self.url, timeout=LONGEST_S)
        self.serving = asyncio.create_task(self.server.serve_all(self.listener))

    async def get_health(self) -> httpx.Response:
        """Ask over a connection of its own, as a load balancer does."""
        async with httpx.AsyncClient(base_url=self.url) as client:
            return await client.get("/health")

    async def connect(self) -> Wire:
        """Open a connection."""
        return Wire(*await asyncio.open_connection(*self.listener.getsockname()[:2]))

    async def exchange(self, data: bytes) -> Answer:
        """Send bytes over a connection of their own and read one answer."""
        async with await self.connect() as wire:
            await wire.send(data)
            return await wire.answer()

    async def stop(self) -> int:
        """Stop, and return how many requests were cut off."""
        self.server.stop()
        async with asyncio.timeout(LONGEST_S):
            return await self.serving


@asynccontextmanager
async def open_site(
    backend: Backend | None = None,
    app: ASGIApp | None = None,
    pace: StreamPace | None = None,
    **settings: Any,  # noqa: ANN401 - any setting
) -> AsyncIterator[Site]:
    """Start a server; where the test has not stopped it, it is stopped in a hurry."""
    site = Site(backend or FakeBackend(), replace(Settings(port=0), **settings), app, pace)
    await until(lambda: site.server.started)
    try:
        yield site
    finally:
        await site.client.aclose()
        if not site.serving.done():
            site.server.stop()
            site.server.stop()
            await site.serving
        site.listener.close()
