"""Counts and times every HTTP request, however it ends."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from unmask.api.responses import ERROR_CODE
from unmask.api.stopwatch import Stopwatch
from unmask.clock import Clock
from unmask.metrics.http import Exchange, HttpInstruments

OTHER = "other"
"""Endpoint of a request to none: paths are the client's to choose, so they are no label."""
STOPWATCH = "stopwatch"
"""Where in the scope's state an endpoint that generates leaves the `Stopwatch` of its call."""


class Measured:
    """Plain ASGI, around everything that answers.

    Endpoints read when their request arrived, on the clock that is given, from
    ``scope["state"]["arrived"]``.
    """

    def __init__(self, app: ASGIApp, *, instruments: HttpInstruments, clock: Clock) -> None:
        self._app = app
        self._instruments = instruments
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        state = scope.setdefault("state", {})
        state["arrived"] = arrived = self._clock.now()
        wire = _Wire(receive, send)
        try:
            await self._app(scope, wire.receive, wire.send)
        finally:
            self._instruments.ended(
                Exchange(
                    # The router leaves the route in the scope, a path that it does not know leaves none.
                    endpoint=getattr(scope.get("route"), "path_format", OTHER),
                    status=wire.status,
                    error_code=state.get(ERROR_CODE),
                    hung_up=wire.hung_up,
                    seconds=self._clock.now() - arrived,
                    overhead_s=_overhead_s(state.get(STOPWATCH)),
                )
            )


def _overhead_s(stopwatch: object) -> float | None:
    return stopwatch.overhead_s() if isinstance(stopwatch, Stopwatch) else None


class _Wire:
    """A connection that remembers the answer's status, and whether the client left before its end."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self._complete = False
        self.status: int | None = None
        self.hung_up = False

    async def receive(self) -> Message:
        message = await self._receive()
        # After the last byte the server says so too, and means no more than the end.
        if message["type"] == "http.disconnect" and not self._complete:
            self.hung_up = True
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            self._complete = True
        await self._send(message)
