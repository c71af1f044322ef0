"""One connection of a client that may be slow, endless, malformed or gone."""

import asyncio
from collections.abc import Callable
from enum import Enum
from typing import Any, Never, cast

import httptools
from starlette.types import ASGIApp
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from unmask.api.errors import HeadersTimeoutError, HeadersTooLargeError, InvalidHttpError, TargetTooLongError
from unmask.api.request_id import HEADER
from unmask.api.responses import error_response
from unmask.app.crowd import Crowd, Room
from unmask.app.old_http import leave_out_chunks
from unmask.app.transport import LINGER_S, ClosingTransport
from unmask.config import Settings
from unmask.errors import UnmaskError

MOST_PIPELINED = 16
"""Requests that may wait on one connection behind the one that is served; those beyond are left unanswered."""
INVALID = "The request is not valid HTTP/1.1. Check its request line, headers and framing."
MOST_FRAMING = 8
"""Bytes that a chunked body may take on the wire for each byte of the longest one: chunks of one byte take six."""


class Phase(Enum):
    """What is being received."""

    QUIET = "nothing"
    HEADERS = "the headers of a request"
    BODY = "the body of a request"


class Connection(HttpToolsProtocol):
    """uvicorn's connection, with an end to everything that a client can drag out and a JSON error for the rest.

    uvicorn sees to parsing, to backpressure, and to the life of a request. Added here:

    * deadlines for headers, for reading an answer, and for the rest of a body whose answer is already out (a body
      that somebody waits for has its deadline in `unmask.api.body`)
    * limits on the target, on headers, on trailers, on requests sent ahead, and on connections
    * errors in the shape of the API, after the answers to earlier requests
    * the last answer before a drain's end says that it is the last
    * no chunks for clients of HTTP/1.0
    """

    def __init__(
        self,
        *,
        settings: Settings,
        crowd: Crowd,
        crowded_app: ASGIApp,
        new_id: Callable[[], str],
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._settings = settings
        self._crowd = crowd
        self._crowded_app = crowded_app
        self._new_id = new_id
        self._closing: ClosingTransport
        self._phase = Phase.QUIET
        self._size = 0
        """Bytes of the request so far, those of the piece it began in left out."""
        self._header_size = 0
        self._fault: UnmaskError | None = None
        self._held: UnmaskError | None = None
        """A refusal that waits for the answers to earlier requests."""
        self._deaf = False
        self._served: RequestResponseCycle | None = None
        """The request whose answer is under way; uvicorn's ``cycle`` is the newest, which may have to wait."""
        self._client_deadline: asyncio.TimerHandle | None = None
        self._reader_deadline: asyncio.TimerHandle | None = None

    # --- the connection ---

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take a connection in, or turn it away."""
        self._closing = ClosingTransport(
            cast("asyncio.Transport", transport),
            loop=self.loop,
            unread=self._is_unread,
            flush_s=self._settings.write_timeout_s,
        )
        super().connection_made(self._closing)
        match self._crowd.enter(self):
            case Room.FREE:
                pass
            case Room.CROWDED:
                self.app = cast("Any", self._crowded_app)
            case Room.NONE:
                self._closing.abort()
        self._expect(self._settings.header_timeout_s)

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of everything."""
        self._crowd.leave(self)
        self._closing.lost()
        self._expect(None)
        self._expect_reading(None)
        super().connection_lost(exc)
        if self._served is not None:
            self._served.disconnected = True
            self._served.message_event.set()

    def evict(self) -> None:
        """Close at once, to make room."""
        self._closing.abort()

    def drain(self) -> None:
        """Close at once if quiet, else after the answer that is under way."""
        if self._is_serving():
            self.cycle.keep_alive = False
        elif self._phase is Phase.QUIET:
            self._closing.close()

    # --- what arrives ---

    def data_received(self, data: bytes) -> None:
        """Parse what arrived, unless nothing more is listened to."""
        if self._deaf or self._closing.is_closing():
            return
        goes_on = self._phase is not Phase.QUIET
        if goes_on:
            self._size += len(data)
        self._feed(data)
        if goes_on and not self._deaf:
            self._check_size()

    def on_message_begin(self) -> None:
        """Begin to count; empty lines before a request are none of it, and move no deadline."""
        super().on_message_begin()
        self._phase = Phase.HEADERS
        self._size = self._header_size = 0
        self._expect(self._settings.header_timeout_s)

    def on_url(self, url: bytes) -> None:
        """Take a piece of the target."""
        super().on_url(url)
        if len(self.url) > self._settings.max_target_bytes:
            self._fail(TargetTooLongError(self._settings.max_target_bytes))

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; what comes behind a body counts as one and is otherwise ignored."""
        self._header_size += len(name) + len(value) + len(b": \r\n")
        if self._header_size > self._settings.max_header_bytes or len(self.headers) >= self._settings.max_headers:
            self._fail(self._too_large())
        if self._phase is not Phase.BODY:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Hand the request to the application."""
        if self.parser.should_upgrade():
            return
        if len(self.pipeline) >= MOST_PIPELINED:
            # Those so far are answered, and the client learns from the last of them to send the rest elsewhere.
            self.cycle.keep_alive = False
            self._deaf = True
            self._fail(InvalidHttpError("Too many requests were sent ahead."))
        hosts = sum(name == b"host" for name, _ in self.headers)
        if hosts > 1 or (not hosts and self.parser.get_http_version() == "1.1"):
            self._fail(InvalidHttpError(f"The request has {hosts} host headers, allowed: one. Send one."))
        super().on_headers_complete()
        if self.parser.get_http_version() == "1.0":
            leave_out_chunks(self.cycle)
        self._phase = Phase.BODY
        self._served = self._served or self.cycle
        self._expect(None)
        self._crowd.begin_work(self)
        # uvicorn stops reading here when the request has to wait, and then would not notice the client's hanging up.
        self.flow.resume_reading()
        if self._crowd.draining or self.app is self._crowded_app:
            self.cycle.keep_alive = False

    def on_message_complete(self) -> None:
        """Wait for the next request, if this one is answered already."""
        if self.parser.should_upgrade():
            return
        super().on_message_complete()
        self._phase = Phase.QUIET
        if not self._is_serving():
            self._expect(self._settings.keep_alive_s)

    # --- what leaves ---

    def on_response_complete(self) -> None:
        """Serve the next request that waits; else say what was held back, or begin to wait."""
        self._served = self.pipeline[-1][0] if self.pipeline else None
        super().on_response_complete()
        # Idle time has one deadline, which is ours: uvicorn's is lifted by any byte.
        self._unset_keepalive_if_required()
        if self._served is not None or self._closing.is_closing():
            return
        self._crowd.end_work(self)
        if self._held is not None:
            self._say(self._held)
        elif self._phase is Phase.QUIET:
            self._expect(self._settings.keep_alive_s)
        elif self._phase is Phase.BODY:
            self._expect(LINGER_S)

    def pause_writing(self) -> None:
        """Give the client time to read."""
        super().pause_writing()
        self._expect_reading(self._settings.write_timeout_s)

    def resume_writing(self) -> None:
        """Take note that it reads."""
        super().resume_writing()
        self._expect_reading(None)

    # --- inside ---

    def _is_serving(self) -> bool:
        return self._served is not None

    def _is_unread(self) -> bool:
        return self._deaf or self._phase is not Phase.QUIET

    def _feed(self, data: bytes) -> None:
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._stay(data[upgrade.args[0] :])
        except httptools.HttpParserError:
            if not self._deaf:
                self._refuse(self._fault or InvalidHttpError(INVALID))

    def _stay(self, rest: bytes) -> None:
        """Take a request that offers another protocol as one that does not.

        JDK clients offer HTTP/2 with every request, and their bodies count. The
        parser leaves off at the offer, so a new one gets the request without it.
        """
        method = self.parser.get_method()
        if method == b"CONNECT":
            self._refuse(InvalidHttpError("CONNECT is for proxies, and this server is none. Send the request itself."))
            return
        version = self.parser.get_http_version().encode()
        offers = {b"connection", b"upgrade", b"http2-settings"}
        kept = [b"%s: %s\r\n" % header for header in self.headers if header[0] not in offers]
        self.parser = httptools.HttpRequestParser(self)
        self._feed(b"".join([method, b" ", self.url, b" HTTP/", version, b"\r\n", *kept, b"\r\n", rest]))

    def _expect(self, seconds: float | None) -> None:
        """Set the deadline of what the client is to send, in place of the one before."""
        if self._client_deadline is not None:
            self._client_deadline.cancel()
        self._client_deadline = None if seconds is None else self.loop.call_later(seconds, self._late)

    def _expect_reading(self, seconds: float | None) -> None:
        if self._reader_deadline is not None:
            self._reader_deadline.cancel()
        self._reader_deadline = None if seconds is None else self.loop.call_later(seconds, self._closing.abort)

    def _late(self) -> None:
        if self._phase is Phase.HEADERS:
            self._refuse(HeadersTimeoutError(self._settings.header_timeout_s))
        else:
            self._closing.close()

    def _check_size(self) -> None:
        """Bound what the parser holds back: a header or trailer that has not ended, or a chunk's own header."""
        longest = self._settings.max_header_bytes
        if self._phase is Phase.BODY:
            longest += MOST_FRAMING * self._settings.max_body_bytes
        if self._phase is not Phase.QUIET and self._size > longest:
            self._refuse(self._too_large())

    def _too_large(self) -> UnmaskError:
        return HeadersTooLargeError(self._settings.max_headers, self._settings.max_header_bytes)

    def _fail(self, error: UnmaskError) -> Never:
        """Stop the parser, which reports an error of its own in place of this one."""
        self._fault = error
        raise error

    def _refuse(self, error: UnmaskError) -> None:
        """Listen no more, and say why when it is this request's turn."""
        self._deaf = True
        self._expect(None)
        if not self._is_serving():
            self._say(error)
        elif self._phase is not Phase.BODY:
            self._held = error
        elif self.pipeline:
            # The newest of those that wait is the one whose body cannot be read.
            self.pipeline.popleft()
            self._held = error
        else:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
            self._say(error)

    def _say(self, error: UnmaskError) -> None:
        """Write an answer of our own, unless one is under way, and close."""
        if self._phase is not Phase.BODY or not self.cycle.response_started:
            self._closing.write(self._answer(error))
        self._closing.close()

    def _answer(self, error: UnmaskError) -> bytes:
        response = error_response(error, headers={"connection": "close"})
        headers = [
            *self.server_state.default_headers,
            *response.raw_headers,
            (HEADER, f"req-{self._new_id()}".encode()),
        ]
        lines = [STATUS_LINE[response.status_code], *(b"%s: %s\r\n" % header for header in headers)]
        return b"".join([*lines, b"\r\n", bytes(response.body)])
