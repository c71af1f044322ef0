"""Lets in requests that carry a key in force, and says who makes them."""

from collections.abc import Container, Iterable
from typing import Protocol

from starlette.requests import Request as HttpRequest
from starlette.types import ASGIApp, Receive, Scope, Send

from unmask.api.responses import error_response
from unmask.api.strangers import Strangers
from unmask.errors import UnmaskError
from unmask.tenants.errors import KeyMissingError, KeyRefusedError
from unmask.tenants.principal import Principal
from unmask.tenants.role import KeyRole

PRINCIPAL = "principal"
"""Where in the scope's state the `Principal` of a request is."""
_SCHEME = "bearer "


class TellsPrincipals(Protocol):
    """Tells who holds a token."""

    async def authenticate(self, text: str) -> Principal:
        """Return who holds it; raise an `UnmaskError` where it opens nothing or nobody can tell."""
        ...

    def knows(self, text: str) -> bool:
        """Tell, without a look into the database, whether a token was found to open something not long ago."""
        ...


class Authentication:
    """Plain ASGI, before anything of a request is read; endpoints ask `require_role`.

    Every path needs a key, save the open ones: so does what is no endpoint, for a stranger learns nothing.
    """

    def __init__(
        self, app: ASGIApp, *, authenticator: TellsPrincipals, strangers: Strangers, open_paths: Container[str]
    ) -> None:
        self._app = app
        self._authenticator = authenticator
        self._strangers = strangers
        self._open_paths = open_paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or refuse it."""
        if scope["type"] != "http" or scope["path"] in self._open_paths:
            await self._app(scope, receive, send)
            return
        try:
            principal = await self._principal(scope)
        except UnmaskError as error:
            refused = isinstance(error, KeyMissingError | KeyRefusedError)
            headers = {"www-authenticate": "Bearer"} if refused else None
            await error_response(error, headers=headers)(scope, receive, send)
            return
        scope.setdefault("state", {})[PRINCIPAL] = principal
        await self._app(scope, receive, send)

    async def _principal(self, scope: Scope) -> Principal:
        host, _ = scope.get("client") or (None, 0)
        token = _token(scope)
        self._strangers.check(host, lambda: self._authenticator.knows(token))
        try:
            return await self._authenticator.authenticate(token)
        except KeyRefusedError:
            self._strangers.refused(host)
            raise


def principal_of_request(http: HttpRequest) -> Principal | None:
    """Return who makes a request; nothing where the server asks for no keys."""
    found = http.scope["state"].get(PRINCIPAL)
    return found if isinstance(found, Principal) else None


def require_role(http: HttpRequest, roles: Iterable[KeyRole]) -> Principal | None:
    """Return who makes a request, or raise a `RoleError` where the key has none of several roles."""
    principal = principal_of_request(http)
    if principal is not None:
        principal.require(roles)
    return principal


def _token(scope: Scope) -> str:
    """Return what a request sends as its key; of two keys it would be unclear which one pays."""
    sent = [bytes(value).decode("latin-1") for name, value in scope["headers"] if name == b"authorization"]
    if len(sent) != 1 or not sent[0].lower().startswith(_SCHEME):
        raise KeyMissingError
    return sent[0][len(_SCHEME) :].strip(" ")
