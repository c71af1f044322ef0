"""One upstream: its connections, its places, its circuit, and the request that is sent to it."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

import httpx

from unmask.clock import Clock, WallClock
from unmask.errors import shown
from unmask.remote.address import CheckedTransport
from unmask.remote.breaker import Breaker
from unmask.remote.errors import (
    BrokenOffError,
    SilentError,
    UnreachableError,
    UpstreamError,
    UpstreamProtocolError,
    UpstreamQueueError,
    UpstreamTimeoutError,
)
from unmask.remote.key import Key
from unmask.remote.refused import error_of
from unmask.remote.settings import Breaking, Timeouts, UpstreamSettings

CHAT_PATH = "/chat/completions"
LARGEST_ERROR = 16_384
"""Bytes of an error's body that are read."""
LINGER_S = 0.1
"""How long the end of a transfer is waited for once its answer is whole."""
_STREAM = "text/event-stream"
RETRY_QUEUE_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadlines:
    """The timeouts of one request, and when all of it has to have ended, on the loop's clock."""

    timeouts: Timeouts
    ends: float

    def left(self, limit: float) -> float:
        """Return seconds: ``limit``, or less where the end is nearer."""
        return max(0.0, min(limit, self.ends - asyncio.get_running_loop().time()))


class Upstream:
    """One server behind one address.

    Args:
        settings: where it is.
        key: what it is sent to be let in.
        clock: of its circuit.
        wall: by which dates are read.
    """

    def __init__(
        self,
        settings: UpstreamSettings,
        breaking: Breaking,
        key: Key,
        clock: Clock,
        wall: WallClock,
    ) -> None:
        self.name = settings.name
        self.settings = settings
        self.breaker = Breaker(settings.name, breaking, clock)
        self.running = 0
        """Requests that are at it."""
        self.waiting = 0
        self._places = asyncio.Semaphore(settings.concurrency)
        self._key = key
        self._wall = wall
        self._client = _client(settings, key)

    @property
    def outstanding(self) -> int:
        """Requests that are at it or wait for a place there."""
        return self.running + self.waiting

    async def aclose(self) -> None:
        """Close its connections."""
        await self._client.aclose()

    async def answer(
        self, body: Mapping[str, object], deadlines: Deadlines, is_whole: Callable[[], bool] = lambda: False
    ) -> AsyncGenerator[bytes, None]:
        """Send a request and yield the bytes of its answer as they come; closing the iterator hangs up.

        The first thing yielded is empty: from then on the request has a place. Once ``is_whole`` says that the answer
        has come no more of it is yielded, and its connection is kept for the next one if it ends at once.

        Raises:
            UpstreamError: it is not answered, or not to the end.
        """
        async with self._place(deadlines):
            yield b""
            response = await self._send(body, deadlines)
            try:
                await self._check(response, deadlines)
                pieces = response.aiter_raw()
                limit = deadlines.timeouts.first_byte
                while not is_whole() and (piece := await self._piece(pieces, deadlines, limit)) is not None:
                    limit = deadlines.timeouts.idle
                    yield piece
                if is_whole():
                    await self._finish(pieces, deadlines)
            finally:
                await response.aclose()

    async def _finish(self, pieces: AsyncIterator[bytes], deadlines: Deadlines) -> None:
        """Read what is behind an answer, which as a rule is the end of its transfer and nothing else."""
        try:
            await self._piece(pieces, deadlines, LINGER_S)
        except UpstreamError:
            # The answer is whole, so that this costs the connection alone.
            return

    @asynccontextmanager
    async def _place(self, deadlines: Deadlines) -> AsyncIterator[None]:
        """Hold one of its places for as long as the block runs."""
        if self._places.locked() and self.waiting >= self.settings.queue:
            raise UpstreamQueueError(
                self.name,
                f"{self.running} requests are at it and {self.waiting} wait, which is as many as may",
                retry_after_s=RETRY_QUEUE_S,
            )
        self.waiting += 1
        try:
            async with asyncio.timeout(deadlines.left(deadlines.timeouts.total)):
                await self._places.acquire()
        except TimeoutError as error:
            raise UpstreamQueueError(self.name, "no place became free in time", retry_after_s=RETRY_QUEUE_S) from error
        finally:
            self.waiting -= 1
        self.running += 1
        try:
            yield
        finally:
            self.running -= 1
            self._places.release()

    async def _send(self, body: Mapping[str, object], deadlines: Deadlines) -> httpx.Response:
        timeouts = deadlines.timeouts
        request = self._client.build_request(
            "POST",
            self.settings.url + CHAT_PATH,
            json=body,
            headers={"accept": _STREAM},
            timeout=httpx.Timeout(None, connect=timeouts.connect),
        )
        limit = deadlines.left(timeouts.first_byte)
        try:
            with self._typed(before_answer=True):
                async with asyncio.timeout(limit):
                    return await self._client.send(request, stream=True)
        except TimeoutError as error:
            raise SilentError(self.name, f"its answer has not begun within {limit:.3g} s") from error

    async def _check(self, response: httpx.Response, deadlines: Deadlines) -> None:
        """Raise what an answer is that is no stream."""
        if response.status_code != httpx.codes.OK:
            content = await self._start(response, deadlines)
            raise error_of(self.name, response, self._key.hidden_in(content), now=self._wall.time())
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != _STREAM:
            raise UpstreamProtocolError(self.name, f"it answers with content-type {shown(kind)}, allowed: {_STREAM}")
        encoding = response.headers.get("content-encoding", "identity").lower()
        if encoding != "identity":
            raise UpstreamProtocolError(self.name, f"its answer is compressed ({shown(encoding)}), allowed: identity")

    async def _start(self, response: httpx.Response, deadlines: Deadlines) -> str:
        """Return the beginning of an error's body, as far as it comes in time."""
        content = b""
        pieces = response.aiter_raw()
        try:
            while len(content) < LARGEST_ERROR:
                piece = await self._piece(pieces, deadlines, deadlines.timeouts.connect)
                if piece is None:
                    break
                content += piece
        except UpstreamError:
            # What counts is the status.
            pass
        return content[:LARGEST_ERROR].decode("utf-8", "replace")

    async def _piece(self, pieces: AsyncIterator[bytes], deadlines: Deadlines, limit: float) -> bytes | None:
        """Return what comes next; nothing at the end."""
        seconds = deadlines.left(limit)
        try:
            with self._typed(before_answer=False):
                async with asyncio.timeout(seconds):
                    return await anext(pieces, None)
        except TimeoutError as error:
            reason = "total time is up" if seconds < limit else f"nothing came for {limit:g} s"
            raise UpstreamTimeoutError(self.name, f"it is given up inside its answer: {reason}") from error

    @contextmanager
    def _typed(self, *, before_answer: bool) -> Iterator[None]:
        """Turn errors of the connection into ours."""
        try:
            yield
        except httpx.ConnectTimeout as error:
            raise UnreachableError(self.name, "it accepts no connection in time") from error
        except httpx.TransportError as error:
            kind = type(error).__name__
            if before_answer:
                raise UnreachableError(self.name, f"it cannot be reached ({kind})") from error
            raise BrokenOffError(self.name, f"its answer breaks off ({kind})") from error
        except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL) as error:
            raise UpstreamProtocolError(self.name, f"it does not speak HTTP as it should ({error!r:.120})") from error


def _client(settings: UpstreamSettings, key: Key) -> httpx.AsyncClient:
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=settings.concurrency)
    inner = httpx.AsyncHTTPTransport(limits=limits, trust_env=False, proxy=settings.proxy)
    return httpx.AsyncClient(
        # A proxy resolves the names itself, and is the operator's own.
        transport=inner
        if settings.proxy
        else CheckedTransport(settings.name, inner, allow_link_local=settings.allow_link_local),
        headers={"user-agent": "unmask", "accept-encoding": "identity", **key.headers()},
        follow_redirects=False,
        trust_env=False,
    )
