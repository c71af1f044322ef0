"""Runs a server from its settings to its end."""

import asyncio
import gc
import os
import socket
from collections.abc import Callable
from dataclasses import replace

from rich.console import Console
from sqlalchemy import Engine

from unmask.api.application import create_app, system_chance
from unmask.api.running import Running
from unmask.app.banner import print_banner
from unmask.app.books import ledger_in, opened_engine, prices_of
from unmask.app.cache import audit_folder, cache_parts
from unmask.app.control import control_parts, record_folder, refiner_in
from unmask.app.files import make_room
from unmask.app.keys import authenticator_in
from unmask.app.reward import opened_reward
from unmask.app.routes import check_prices, routes_for
from unmask.app.server import DrainingServer
from unmask.app.tracing import opened_tracing
from unmask.backend import Backend
from unmask.config import Settings
from unmask.config.choices import KeyMode
from unmask.config.rules import is_loopback
from unmask.config.savings import enabled_savings
from unmask.config.state import state_folder
from unmask.errors import ConfigError
from unmask.ledger.book import DatabaseLedger
from unmask.ledger.errors import LedgerUnavailableError
from unmask.metrics.tracing import Tracing
from unmask.policy.folders import open_store
from unmask.savings.standing import KnownSavings, known_figures
from unmask.text.tokenizer import packaged_tokenizer

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
    keys = None if engine is None else authenticator_in(engine, settings, os.environ)
    backend = make_backend(settings)
    running = Running(settings.replicas * settings.max_rows * len(backend.models()) + settings.queue_limit)
    chance = system_chance()
    tokenizer = packaged_tokenizer()
    parts = control_parts(
        record_folder(os.environ),
        open_store(settings.policy_dir, os.environ),
        chance.draw_seed,
        count_tokens=tokenizer.chat_length,
        max_tokens=backend.models()[0].default_max_tokens,
    )
    routes = routes_for(settings, backend, tokenizer.chat_length)
    ledger = None
    if engine is not None:
        check_prices(routes, prices_of(settings))
        ledger = ledger_in(engine, settings)
    savings = KnownSavings(figures=known_figures(state_folder(os.environ)), enabled=enabled_savings(settings))
    refiner = refiner_in(settings, os.environ, tokenizer.chat_length, chance.draw_seed)
    cache = cache_parts(
        settings, audit_folder(os.environ), chance.clock, new_id=chance.new_id, draw_seed=chance.draw_seed
    )
    async with opened_reward(settings, os.environ, chance.clock) as desk:
        parts = replace(parts, ledger=ledger, routes=routes, savings=savings, refiner=refiner, cache=cache, reward=desk)
        app = create_app(backend, settings, running, chance, parts=parts, keys=keys, tracing=tracing)
        server = DrainingServer(
            app,
            backend,
            running,
            settings,
            new_id=chance.new_id,
            say=lambda text: console.print(text, highlight=False, markup=False),
        )
        # What is loaded by now stays to the end. Neither collections meanwhile nor the one at exit, which with torch
        # take seconds on a busy machine, need look through it.
        gc.freeze()
        print_banner(
            console,
            url_of(listener),
            backend.models(),
            parts.policies,
            routes=routes,
            loads=backend.load(),
            has_keys=keys is not None,
        )
        try:
            return await server.serve_all(listener)
        finally:
            if parts.book is not None:
                parts.book.close()
            if refiner is not None:
                refiner.pairs.close()
            if cache is not None:
                cache.close()
            if ledger is not None:
                await _close(ledger, console)


async def _close(ledger: DatabaseLedger, console: Console) -> None:
    """Book what waits; where that cannot be, say so: whoever starts the server next finds it, as lost."""
    try:
        await ledger.close()
    except LedgerUnavailableError as error:
        console.print(error.message, highlight=False, markup=False, soft_wrap=True)


def fast_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return what makes the fastest event loop there is here; nothing where that is asyncio's own."""
    try:
        import uvloop
    except ModuleNotFoundError:
        # Not made for every platform; asyncio's own loop does the same, slower.
        return None
    return uvloop.new_event_loop
