"""One upstream: its connections, its places, its circuit, and the request that is sent to it."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

import httpx
import orjson
from aiohttp import (
    ClientConnectionError,
    ClientError,
    ClientPayloadError,
    ClientResponse,
    ClientSession,
    ClientTimeout,
    ConnectionTimeoutError,
    DummyCookieJar,
    TCPConnector,
)

from unmask.clock import Clock, WallClock
from unmask.errors import shown
from unmask.remote.address import CheckedResolver, check_literal
from unmask.remote.breaker import Breaker
from unmask.remote.errors import (
    BrokenOffError,
    SilentError,
    UnreachableError,
    UpstreamError,
    UpstreamProtocolError,
    UpstreamQueueError,
    UpstreamTimeoutError,
    UpstreamTooMuchError,
)
from unmask.remote.key import Key
from unmask.remote.refused import error_of
from unmask.remote.settings import Breaking, Timeouts, UpstreamSettings

CHAT_PATH = "/chat/completions"
LARGEST_ERROR = 16_384
"""Bytes of an error's body that are read."""
LINGER_S = 0.1
"""How long the end of a transfer is waited for once its answer is whole."""
_OK = 200
_STREAM = "text/event-stream"
RETRY_QUEUE_S = 1.0
KEPT_S = 4.0
"""How long an idle connection is kept: less than the 5 seconds after which common servers hang up."""


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
        self._opened: ClientSession | None = None

    @property
    def outstanding(self) -> int:
        """Requests that are at it or wait for a place there."""
        return self.running + self.waiting

    async def aclose(self) -> None:
        """Close its connections."""
        if self._opened is not None:
            await self._opened.close()

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
                limit = deadlines.timeouts.first_byte
                while not is_whole() and (piece := await self._piece(response, deadlines, limit)):
                    limit = deadlines.timeouts.idle
                    yield piece
                if is_whole():
                    await self._finish(response, deadlines)
            finally:
                # What has been read to its end has given its connection back already.
                response.close()

    async def page(self, path: str, deadlines: Deadlines, most_bytes: int) -> str:
        """Return the text at a path of its server, at the root of its address rather than below its API.

        It takes no place, says nothing of the circuit, and has as long as a connection has to be made.

        Raises:
            UpstreamError: there is no such page, it is too large, or it does not come in time.
        """
        limit = deadlines.left(deadlines.timeouts.connect)
        content = b""
        try:
            with self._typed(before_answer=True):
                async with asyncio.timeout(limit):
                    response = await self._session().get(
                        str(httpx.URL(self.settings.url).join(path)),
                        headers={"accept": "text/plain"},
                        timeout=ClientTimeout(total=None),
                        allow_redirects=False,
                        proxy=self.settings.proxy,
                    )
                    async with response:
                        if response.status != _OK:
                            raise UpstreamProtocolError(self.name, f"{path} answers {response.status}")
                        while len(content) <= most_bytes and (piece := await response.content.readany()):
                            content += piece
        except TimeoutError as error:
            raise UpstreamTimeoutError(self.name, f"{path} has not come within {limit:.3g} s") from error
        if len(content) > most_bytes:
            raise UpstreamTooMuchError(self.name, f"{path} has more than {most_bytes} bytes")
        return content.decode("utf-8", "replace")

    async def _finish(self, response: ClientResponse, deadlines: Deadlines) -> None:
        """Read what is behind an answer, which as a rule is the end of its transfer and nothing else."""
        if response.content.at_eof():
            return
        try:
            await self._piece(response, deadlines, LINGER_S)
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

    async def _send(self, body: Mapping[str, object], deadlines: Deadlines) -> ClientResponse:
        timeouts = deadlines.timeouts
        limit = deadlines.left(timeouts.first_byte)
        try:
            with self._typed(before_answer=True):
                async with asyncio.timeout(limit):
                    return await self._session().post(
                        self.settings.url + CHAT_PATH,
                        data=orjson.dumps(body),
                        timeout=ClientTimeout(total=None, connect=timeouts.connect),
                        allow_redirects=False,
                        proxy=self.settings.proxy,
                    )
        except TimeoutError as error:
            raise SilentError(self.name, f"its answer has not begun within {limit:.3g} s") from error

    def _session(self) -> ClientSession:
        """Return its connections, which belong to the loop that first asks for them."""
        if self._opened is None:
            self._opened = _session(self.settings, self._key)
        return self._opened

    async def _check(self, response: ClientResponse, deadlines: Deadlines) -> None:
        """Raise what an answer is that is no stream."""
        if response.status != _OK:
            content = self._key.hidden_in(await self._start(response, deadlines))
            after = response.headers.get("retry-after")
            raise error_of(self.name, response.status, content, after=after, now=self._wall.time())
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != _STREAM:
            raise UpstreamProtocolError(self.name, f"it answers with content-type {shown(kind)}, allowed: {_STREAM}")
        encoding = response.headers.get("content-encoding", "identity").lower()
        if encoding != "identity":
            raise UpstreamProtocolError(self.name, f"its answer is compressed ({shown(encoding)}), allowed: identity")

    async def _start(self, response: ClientResponse, deadlines: Deadlines) -> str:
        """Return the beginning of an error's body, as far as it comes in time."""
        content = b""
        try:
            while len(content) < LARGEST_ERROR:
                piece = await self._piece(response, deadlines, deadlines.timeouts.connect)
                if not piece:
                    break
                content += piece
        except UpstreamError:
            # What counts is the status.
            pass
        return content[:LARGEST_ERROR].decode("utf-8", "replace")

    async def _piece(self, response: ClientResponse, deadlines: Deadlines, limit: float) -> bytes:
        """Return what comes next; nothing at the end."""
        seconds = deadlines.left(limit)
        try:
            with self._typed(before_answer=False):
                async with asyncio.timeout(seconds):
                    return await response.content.readany()
        except TimeoutError as error:
            reason = "total time is up" if seconds < limit else f"nothing came for {limit:g} s"
            raise UpstreamTimeoutError(self.name, f"it is given up inside its answer: {reason}") from error

    @contextmanager
    def _typed(self, *, before_answer: bool) -> Iterator[None]:
        """Turn errors of the connection into ours."""
        try:
            yield
        except ConnectionTimeoutError as error:
            raise UnreachableError(self.name, "it accepts no connection in time") from error
        except (ClientConnectionError, ClientPayloadError) as error:
            kind = type(error).__name__
            if before_answer:
                raise UnreachableError(self.name, f"it cannot be reached ({kind})") from error
            raise BrokenOffError(self.name, f"its answer breaks off ({kind})") from error
        except ClientError as error:
            # Its name alone: what else such an error tells holds the headers that were sent, and with them the key.
            kind = type(error).__name__
            raise UpstreamProtocolError(self.name, f"it does not speak HTTP as it should ({kind})") from error


def _session(settings: UpstreamSettings, key: Key) -> ClientSession:
    resolver = None
    # A proxy resolves the names itself, and is the operator's own.
    if not settings.proxy:
        check_literal(settings.name, settings.url, allow_link_local=settings.allow_link_local)
        resolver = CheckedResolver(settings.name, allow_link_local=settings.allow_link_local)
    return ClientSession(
        connector=TCPConnector(
            limit=0, resolver=resolver, use_dns_cache=False, keepalive_timeout=KEPT_S, enable_cleanup_closed=False
        ),
        headers={
            "accept": _STREAM,
            "accept-encoding": "identity",
            "content-type": "application/json",
            "user-agent": "unmask",
            **key.headers(),
        },
        cookie_jar=DummyCookieJar(),
        auto_decompress=False,
        trust_env=False,
    )
