"""Runs a server from its settings to its end."""

import asyncio
import gc
import os
import socket
from collections.abc import Callable

from rich.console import Console
from sqlalchemy import Engine

from unmask.app.banner import print_banner
from unmask.app.books import opened_engine
from unmask.app.files import make_room
from unmask.app.server import DrainingServer
from unmask.app.site import opened_site
from unmask.app.tracing import opened_tracing
from unmask.backend import Backend
from unmask.config import Settings
from unmask.config.choices import KeyMode
from unmask.config.rules import is_loopback
from unmask.errors import ConfigError
from unmask.metrics.tracing import Tracing

BACKLOG = 2048


def serve(settings: Settings, make_backend: Callable[[Settings], Backend], console: Console) -> int:
    """Serve until a stop signal; return how many requests were cut off.

    Args:
        settings: what to serve and where.
        make_backend: called inside the event loop, once the port is ours.
        console: told where the server is and when it stops.

    Raises:
        ConfigError: the port cannot be listened on, or this process may not hold so many connections; or the database
            is none, or the price book cannot be read; or the reward endpoint's address or key cannot be used.
        DatabaseUnavailableError: the database does not answer.
        PepperError: the secret that keys are hashed with cannot be read, or is another one.
        UnmaskError: whatever `make_backend` raises.
    """
    make_room(settings.max_connections)
    with (
        listen(settings) as listener,
        opened_engine(settings, os.environ) as engine,
        opened_tracing(settings) as tracing,
        asyncio.Runner(loop_factory=fast_loop()) as runner,
    ):
        return runner.run(_serve(settings, make_backend, console, listener, engine, tracing))


def listen(settings: Settings) -> socket.socket:
    """Take the port."""
    assert is_loopback(settings.host) or settings.keys is KeyMode.REQUIRED, "checked where settings are read"
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        listener = socket.create_server((settings.host, settings.port), family=family, backlog=BACKLOG)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(
            f"port is {settings.port}, and {settings.host} cannot listen there: {reason}. "
            "Choose another, or 0 for a free one.",
            param="port",
        ) from error
    # Its connections inherit this. Without it the second piece of an answer would wait, up to 40 ms, until the client
    # confirms the first; not every event loop sees to it by itself.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def url_of(listener: socket.socket) -> str:
    """Return the address of a listening socket as clients write it."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


async def _serve(
    settings: Settings,
    make_backend: Callable[[Settings], Backend],
    console: Console,
    listener: socket.socket,
    engine: Engine | None,
    tracing: Tracing | None,
) -> int:
    backend = make_backend(settings)
    async with opened_site(settings, backend, engine, tracing, console) as site:
        server = DrainingServer(
            site.app,
            backend,
            site.running,
            settings,
            new_id=site.chance.new_id,
            say=lambda text: console.print(text, highlight=False, markup=False),
        )
        # What is loaded by now stays to the end. Neither collections meanwhile nor the one at exit, which with torch
        # take seconds on a busy machine, need look through it.
        gc.freeze()
        print_banner(
            console,
            url_of(listener),
            backend.models(),
            site.parts.policies,
            routes=site.parts.routes,
            loads=backend.load(),
            has_keys=site.has_keys,
        )
        return await server.serve_all(listener)


def fast_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return what makes the fastest event loop there is here; nothing where that is asyncio's own."""
    try:
        import uvloop
    except ModuleNotFoundError:
        # Not made for every platform; asyncio's own loop does the same, slower.
        return None
    return uvloop.new_event_loop
