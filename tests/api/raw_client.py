"""A client that sees every message of a server, and may stop reading or hang up at any of them."""

import asyncio
from collections.abc import Callable

from starlette.types import ASGIApp, Message

from tests.api.client import CHAT


class RawClient:
    """A raw connection.

    Args:
        body: what it sends.
        path: where to.
        on_message: told of every message of the server, once it is noted.
        reads: how many messages it takes; sending it more waits for ever.
    """

    def __init__(
        self,
        body: bytes = b"{}",
        *,
        path: str = CHAT,
        on_message: Callable[["RawClient"], None] | None = None,
        reads: int | None = None,
    ) -> None:
        self._body = [body]
        self._path = path
        self._on_message = on_message
        self._reads = reads
        self.hung_up = asyncio.Event()
        self.sent: list[Message] = []

    @property
    def status(self) -> int | None:
        """Status of the answer, once there is one."""
        return self.sent[0]["status"] if self.sent else None

    @property
    def text(self) -> bytes:
        """The body so far."""
        return b"".join(message["body"] for message in self.sent[1:])

    async def receive(self) -> Message:
        """Send the body, then nothing until the client hangs up."""
        if self._body:
            return {"type": "http.request", "body": self._body.pop(), "more_body": False}
        await self.hung_up.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        """Note what the server sends."""
        if len(self.sent) == self._reads:
            await asyncio.Event().wait()
        self.sent.append(message)
        if self._on_message is not None:
            self._on_message(self)

    async def call(self, app: ASGIApp) -> None:
        """Make the request."""
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "POST",
            "scheme": "http",
            "path": self._path,
            "raw_path": self._path.encode(),
            "root_path": "",
            "query_string": b"",
            "headers": [(b"content-type", b"application/json")],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 2),
        }
        await app(scope, self.receive, self.send)
