"""Gives every answer an ``x-request-id``, and turns what nobody foresaw into an error body."""

import logging
from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from unmask.api.responses import error_response, unforeseen

HEADER = b"x-request-id"
LONGEST_ID = 128
_LOG = logging.getLogger(__name__)


class RequestIds:
    """Plain ASGI, so that a client's hanging up reaches the endpoint.

    The client's own id is kept if it is 1 to 128 printable ASCII characters;
    endpoints read it from ``scope["state"]["request_id"]``.
    """

    def __init__(self, app: ASGIApp, *, new_id: Callable[[], str]) -> None:
        self._app = app
        self._new_id = new_id

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = _clients_id(scope) or f"req-{self._new_id()}"
        scope.setdefault("state", {})["request_id"] = request_id
        started = False

        async def send_with_id(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message["headers"] = [*message.get("headers", ()), (HEADER, request_id.encode())]
            await send(message)

        try:
            await self._app(scope, receive, send_with_id)
        except Exception:
            _LOG.exception("request %s failed", request_id)
            if started:
                raise
            await error_response(unforeseen(request_id))(scope, receive, send_with_id)


def _clients_id(scope: Scope) -> str | None:
    value = next((value for name, value in scope["headers"] if name == HEADER), b"")
    given = bytes(value).decode("latin-1")
    return given if 1 <= len(given) <= LONGEST_ID and given.isascii() and given.isprintable() else None
