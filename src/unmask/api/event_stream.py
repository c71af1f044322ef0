"""The HTTP response that is a stream of events."""

import logging
from dataclasses import dataclass

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from unmask.api.answer import Answer
from unmask.api.chunks import Chunks
from unmask.api.connection import Wire, while_connected
from unmask.api.errors import ClientGoneError
from unmask.api.event_buffer import EventBuffer
from unmask.api.headers import answer_headers
from unmask.api.responses import note_error, unforeseen
from unmask.api.serving import Serving
from unmask.api.sse import COMMENT, error_event
from unmask.errors import UnmaskError

_HEADERS = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
    # Proxies of the nginx kind would hold events back until they have a page of them.
    "x-accel-buffering": "no",
}
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamPace:
    """How long a stream may be silent, and how long its client may be deaf; in seconds.

    Attributes:
        comment_s: after so long without an event a comment goes out. The headers wait for the first event, so that
            what the backend refuses is answered with its status; this is also the longest that they wait.
        stalled_s: after so long without reading, a client is given up.
    """

    comment_s: float = 5.0
    stalled_s: float = 30.0


class EventStream(Response):
    """Runs a call and sends its events as they happen.

    Whoever serves the application runs all of it inside this response, so that
    nothing is generated before there is somebody to send it to, nor after.
    """

    def __init__(self, serving: Serving, answer: Answer, pace: StreamPace) -> None:
        super().__init__()
        self._serving = serving
        self._answer = answer
        self._pace = pace

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the stream; a client that leaves, or does not read, ends its generations.

        Raises:
            UnmaskError: the call was refused or failed before anything was sent.
        """
        wire = Wire(send, stalled_s=self._pace.stalled_s)
        try:
            await while_connected(receive, self._send(wire, scope))
        except ClientGoneError as error:
            if not wire.started:
                raise
            note_error(scope, error)
            _LOG.info("request %s is given up: %s", self._serving.request_id, error)

    async def _send(self, wire: Wire, scope: Scope) -> None:
        async with self._serving.stream() as buffer:
            await buffer.wait(self._pace.comment_s)
            # Nothing is sent yet, so an error may still be an answer of its own.
            buffer.check()
            await wire.start(200, self._header_lines())
            last = await self._write(buffer, wire, scope)
        # Once nothing runs any more, so that a client that has its answer finds the place free.
        await wire.end(last)

    def _header_lines(self) -> list[tuple[bytes, bytes]]:
        serving = self._serving
        matches = serving.matches.values()
        lines = {**_HEADERS, **answer_headers(serving.call, serving.stopwatch, serving.account.standings, matches)}
        return [(name.encode(), value.encode()) for name, value in lines.items()]

    async def _write(self, buffer: EventBuffer, wire: Wire, scope: Scope) -> bytes:
        """Write what happens; return what is left to write, which is the closing, or an error in its place."""
        try:
            return await self._write_events(buffer, wire)
        except ClientGoneError:
            raise
        except UnmaskError as known:
            error = known
        except Exception:  # noqa: BLE001 - whoever else answers what nobody foresaw cannot once the headers are out
            _LOG.exception("request %s failed", self._serving.request_id)
            error = unforeseen(self._serving.request_id)
        note_error(scope, error)
        return error_event(error)

    async def _write_events(self, buffer: EventBuffer, wire: Wire) -> bytes:
        chunks = Chunks(self._answer)
        written = chunks.opening()
        ended = False
        while not ended:
            ended = buffer.ended
            await wire.write(written + b"".join(map(chunks.event, buffer.take())))
            written = b"" if await buffer.wait(self._pace.comment_s) else COMMENT
        buffer.check()
        return chunks.closing()
