"""A client's connection while it is answered: whether it is there, and whether it reads."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

from starlette.types import Message, Receive, Send

from unmask.api.cancel import cancel
from unmask.api.errors import ClientGoneError, StalledClientError

T = TypeVar("T")


async def while_connected(receive: Receive, work: Coroutine[Any, Any, T]) -> T:
    """Do work for as long as the client is there; it is cancelled, and waited for, once the client has gone.

    Raises:
        ClientGoneError: the client hung up first.
    """
    working, hanging_up = asyncio.ensure_future(work), asyncio.ensure_future(_disconnected(receive))
    try:
        await asyncio.wait((working, hanging_up), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientGoneError("The client closed the connection before its answer.")
        return working.result()
    finally:
        await cancel(working, hanging_up)


class Wire:
    """Sends one answer bit by bit, to a client that reads it.

    Args:
        send: the connection; waits while what was sent before is not read.
        stalled_s: seconds that it may wait.
    """

    def __init__(self, send: Send, *, stalled_s: float) -> None:
        self._send = send
        self._stalled_s = stalled_s
        self.started = False

    async def start(self, status: int, headers: Iterable[tuple[bytes, bytes]]) -> None:
        """Send the status and the headers.

        Raises:
            ClientGoneError: there is nobody to send to.
            StalledClientError: the client does not read.
        """
        # Before it is out: once it is under way, no other answer can be.
        self.started = True
        await self._sent({"type": "http.response.start", "status": status, "headers": list(headers)})

    async def write(self, body: bytes) -> None:
        """Send a part of the body, unless it is empty; raises as `start` does."""
        if body:
            await self._sent({"type": "http.response.body", "body": body, "more_body": True})

    async def end(self, body: bytes) -> None:
        """Send the last part of the body; raises as `start` does."""
        await self._sent({"type": "http.response.body", "body": body, "more_body": False})

    async def _sent(self, message: Message) -> None:
        try:
            async with asyncio.timeout(self._stalled_s):
                await self._send(message)
        except TimeoutError as error:
            raise StalledClientError(self._stalled_s) from error
        except OSError as error:
            # How servers of ASGI 2.4 say it; uvicorn drops what nobody reads.
            raise ClientGoneError("The client closed the connection during its answer.") from error


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
