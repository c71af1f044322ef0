"""Asks a server over real sockets, with as little work of its own as there can be."""

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import cast

from unmask.clock import Clock
from unmask.errors import UnmaskError

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_END = b"\r\n\r\n"
ANSWER_S = 30.0
"""Seconds after which an answer is given up, and the bench with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a server listens, and the request that it is sent."""

    host: str
    port: int
    request: bytes


@dataclass(slots=True, kw_only=True)
class Load:
    """What came of requests: seconds from sending each to the last byte of its answer, and of all together."""

    latencies: list[float] = field(default_factory=list)
    seconds: float = 0.0


def http_request(host: str, path: str, body: bytes) -> bytes:
    """Return a POST as it goes over the wire."""
    head = (
        f"POST {path} HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


class Caller(asyncio.Protocol):
    """A connection that is kept, and asks one thing at a time."""

    def __init__(self, clock: Clock) -> None:
        self.is_open = True
        self._clock = clock
        self._data = bytearray()
        self._waiting: asyncio.Future[float] | None = None
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the connection."""
        # Of a stream; uvloop's are not of the class.
        self._transport = cast("asyncio.Transport", transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """End what waits: no server that is measured closes a connection in use, only ones long idle."""
        self.is_open = False
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(UnmaskError(f"the server closed a connection: {exc}"))

    def data_received(self, data: bytes) -> None:
        """Look whether the answer is whole."""
        self._data += data
        end = self._data.find(_END)
        if end < 0:
            return
        found = _LENGTH.search(self._data, 0, end)
        size = 0 if found is None else int(found[1])
        if len(self._data) < end + len(_END) + size or self._waiting is None:
            return
        if self._data.startswith(b"HTTP/1.1 200"):
            self._waiting.set_result(self._clock.now())
        else:
            self._waiting.set_exception(UnmaskError(f"the server answered {bytes(self._data[:400])!r}"))

    async def ask(self, request: bytes) -> float:
        """Send a request; return the seconds until its answer was whole.

        Raises:
            UnmaskError: it was not answered with 200.
        """
        assert self._transport is not None, "connected"
        self._data.clear()
        self._waiting = asyncio.get_running_loop().create_future()
        started = self._clock.now()
        self._transport.write(request)
        return await self._waiting - started

    def close(self) -> None:
        """Hang up."""
        if self._transport is not None:
            self._transport.abort()


class Callers:
    """The connections to one server; there are as many as are asked over at once."""

    def __init__(self, place: Place, clock: Clock) -> None:
        self._place = place
        self._clock = clock
        self._idle: list[Caller] = []
        self._all: list[Caller] = []

    async def at_rate(self, per_s: float, count: int, random: Random) -> Load:
        """Send requests at random moments, so many a second on average, whether or not earlier ones are answered."""
        load = Load()
        waiting: list[asyncio.Task[None]] = []
        started = due = self._clock.now()
        async with asyncio.timeout(ANSWER_S + count / per_s):
            for _ in range(count):
                due += random.expovariate(per_s)
                await asyncio.sleep(max(0.0, due - self._clock.now()))
                waiting.append(asyncio.create_task(self._one(load.latencies)))
            await asyncio.gather(*waiting)
        load.seconds = self._clock.now() - started
        return load

    async def at_once(self, callers: int, count: int) -> Load:
        """Let so many callers ask one thing after the other, until ``count`` were sent."""
        load = Load()
        left = iter(range(count))
        started = self._clock.now()
        async with asyncio.timeout(ANSWER_S + count * 0.1):
            await asyncio.gather(*(self._several(left, load.latencies) for _ in range(callers)))
        load.seconds = self._clock.now() - started
        return load

    def close(self) -> None:
        """Hang up everywhere."""
        for caller in self._all:
            caller.close()

    async def _several(self, left: Iterator[int], latencies: list[float]) -> None:
        for _ in left:
            await self._one(latencies)

    async def _one(self, latencies: list[float]) -> None:
        caller = self._kept() or await self._connect()
        latencies.append(await caller.ask(self._place.request))
        self._idle.append(caller)

    def _kept(self) -> Caller | None:
        """Take the connection used last: servers hang up on those that have been idle for some seconds."""
        while self._idle:
            caller = self._idle.pop()
            if caller.is_open:
                return caller
        return None

    async def _connect(self) -> Caller:
        loop = asyncio.get_running_loop()
        _, caller = await loop.create_connection(lambda: Caller(self._clock), self._place.host, self._place.port)
        self._all.append(caller)
        return caller
