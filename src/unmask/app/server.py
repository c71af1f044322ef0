"""A uvicorn server that finishes what runs before it stops."""

import asyncio
import contextlib
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from functools import partial
from types import FrameType
from typing import cast

import uvicorn
from starlette.types import ASGIApp

from unmask.api.errors import ConnectionsError
from unmask.api.request_id import RequestIds
from unmask.api.responses import error_response
from unmask.api.running import Running
from unmask.app.connection import Connection
from unmask.app.crowd import Crowd, OnlyProbes
from unmask.backend import Backend
from unmask.config import Settings

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)
FLUSH_S = 2
"""Seconds for cut-off requests to let go, and then for answers to leave."""


class DrainingServer(uvicorn.Server):
    """From the first stop signal on answers 503 and finishes what runs; a second one cuts that short.

    While it drains it still listens, so that a load balancer reads from
    ``/health`` why it should go elsewhere. Idle connections are closed at once,
    and every answer is the last of its connection.
    """

    def __init__(
        self,
        app: ASGIApp,
        backend: Backend,
        running: Running,
        settings: Settings,
        *,
        new_id: Callable[[], str],
        say: Callable[[str], None],
    ) -> None:
        self._crowd = Crowd(settings.max_connections)
        full = RequestIds(error_response(ConnectionsError(settings.max_connections)), new_id=new_id)
        connection = partial(
            Connection, settings=settings, crowd=self._crowd, crowded_app=OnlyProbes(app, full), new_id=new_id
        )
        super().__init__(
            uvicorn.Config(
                app,
                # Called as a class is.
                http=cast("type[Connection]", connection),
                ws="none",
                access_log=False,
                log_config=None,
                # Its warnings are about requests that are answered anyway.
                log_level="error",
                server_header=False,
                timeout_graceful_shutdown=FLUSH_S,
            )
        )
        self._backend = backend
        self._running = running
        self._drain_s = settings.drain_s
        self._say = say
        self._drain: asyncio.Task[None] | None = None
        self._hurry = asyncio.Event()
        self._cut_off = 0

    async def serve_all(self, listener: socket.socket) -> int:
        """Serve until told to stop; return how many requests were cut off."""
        try:
            await self.serve(sockets=[listener])
        finally:
            await (self._drain or self._backend.drain())
        return self._cut_off

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take stop signals for as long as the server runs."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        loop = asyncio.get_running_loop()

        def forward(_number: int, _frame: FrameType | None) -> None:
            loop.call_soon_threadsafe(self.stop)

        before = {number: signal.signal(number, forward) for number in STOP_SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def stop(self) -> None:
        """Begin to drain; when called again, wait no longer."""
        if self._drain is None:
            self._drain = asyncio.get_running_loop().create_task(self._finish())
        else:
            self._hurry.set()

    async def _finish(self) -> None:
        self._running.begin_drain()
        self._crowd.begin_drain()
        self._say(f"draining: running requests have {self._drain_s:g} s, a second signal cuts them off")
        draining = asyncio.ensure_future(self._backend.drain())
        hurrying = asyncio.ensure_future(self._hurry.wait())
        try:
            waiting = (draining, hurrying)
            await asyncio.wait(waiting, timeout=self._drain_s, return_when=asyncio.FIRST_COMPLETED)
            if not draining.done():
                self._cut_off = self._running.cut_off()
                self._say(f"requests cut off: {self._cut_off}")
            await asyncio.wait((draining,), timeout=FLUSH_S)
            if draining.done():
                await draining
            else:
                self._say(f"still at work and not waited for: the backend, with {self._running.count} requests open")
        finally:
            draining.cancel()
            hurrying.cancel()
            self.should_exit = True
