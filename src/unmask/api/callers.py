"""Keeps web pages from elsewhere off a server that asks for no keys."""

from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from unmask.api.errors import ForeignHostError, ForeignOriginError
from unmask.api.responses import error_response
from unmask.config.rules import is_loopback
from unmask.errors import UnmaskError


class KnownCallers:
    """Answers requests that call this machine by its own name, or by an ``allowed`` one, and that no other page makes.

    A browser lets any page send requests to loopback addresses. Where the page's
    own name was made to point here (DNS rebinding), ``host`` carries that name;
    where it calls a loopback address outright, ``origin`` carries the page's. No
    answer carries CORS headers, so no page of another origin reads any either.
    What has neither header is no browser.
    """

    def __init__(self, app: ASGIApp, *, allowed: Iterable[str]) -> None:
        self._app = app
        self._allowed = frozenset(name.lower() for name in allowed)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or refuse it."""
        refusal = self._refusal(scope) if scope["type"] == "http" else None
        if refusal is None:
            await self._app(scope, receive, send)
        else:
            await error_response(refusal)(scope, receive, send)

    def _refusal(self, scope: Scope) -> UnmaskError | None:
        for host in _values(scope, b"host"):
            if not self._is_ours(f"//{host}"):
                return ForeignHostError(host)
        for origin in _values(scope, b"origin"):
            if not self._is_ours(origin):
                return ForeignOriginError(origin)
        return None

    def _is_ours(self, url: str) -> bool:
        try:
            name = urlsplit(url).hostname or ""
        except ValueError:
            return False
        return is_loopback(name) or name in self._allowed


def _values(scope: Scope, name: bytes) -> list[str]:
    return [bytes(value).decode("latin-1") for key, value in scope["headers"] if key == name]
