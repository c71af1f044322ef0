"""Notes when a request arrives."""

from starlette.types import ASGIApp, Receive, Scope, Send

from unmask.clock import Clock


class Arrivals:
    """Outermost of all, so that nothing of ours goes unmeasured.

    Endpoints read the time, on the clock that is given, from
    ``scope["state"]["arrived"]``.
    """

    def __init__(self, app: ASGIApp, *, clock: Clock) -> None:
        self._app = app
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "http":
            scope.setdefault("state", {})["arrived"] = self._clock.now()
        await self._app(scope, receive, send)
