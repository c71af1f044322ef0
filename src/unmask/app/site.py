"""The application of a server with all that it is made of, open for as long as it serves."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import lru_cache

from fastapi import FastAPI
from rich.console import Console
from sqlalchemy import Engine

from unmask.api.application import create_app, system_chance
from unmask.api.chance import Chance
from unmask.api.running import Running
from unmask.app.books import ledger_in, prices_of
from unmask.app.cache import audit_folder, cache_parts
from unmask.app.control import control_parts, record_folder, refiner_in
from unmask.app.keys import authenticator_in
from unmask.app.reward import opened_reward
from unmask.app.routes import check_prices, routes_for
from unmask.backend import Backend
from unmask.config import Settings
from unmask.config.savings import enabled_savings
from unmask.config.state import state_folder
from unmask.control.parts import ControlParts
from unmask.ledger.book import DatabaseLedger
from unmask.ledger.errors import LedgerUnavailableError
from unmask.metrics.tracing import Tracing
from unmask.policy.folders import open_store
from unmask.savings.standing import KnownSavings, known_figures
from unmask.text.tokenizer import packaged_tokenizer


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """An application, and what whoever runs it needs of its parts."""

    app: FastAPI
    running: Running
    chance: Chance
    parts: ControlParts
    has_keys: bool


@asynccontextmanager
async def opened_site(
    settings: Settings, backend: Backend, engine: Engine | None, tracing: Tracing | None, console: Console
) -> AsyncIterator[Site]:
    """Build the application over a backend, and close what it has opened at the end.

    Args:
        settings: what is served, and how.
        backend: serves the requests.
        engine: database of the ledger and of keys, where there is one.
        tracing: where spans go.
        console: told of what could not be booked at the end.

    Raises:
        ConfigError: a file that is named cannot be read, or the reward endpoint cannot be used.
        DatabaseUnavailableError: the database does not answer.
        PepperError: the secret that keys are hashed with cannot be read, or is another one.
    """
    keys = None if engine is None else authenticator_in(engine, settings, os.environ)
    running = Running(settings.replicas * settings.max_rows * len(backend.models()) + settings.queue_limit)
    chance = system_chance()
    async with _opened_parts(settings, backend, engine, chance, console) as parts:
        app = create_app(backend, settings, running, chance, parts=parts, keys=keys, tracing=tracing)
        yield Site(app=app, running=running, chance=chance, parts=parts, has_keys=keys is not None)


@asynccontextmanager
async def _opened_parts(
    settings: Settings, backend: Backend, engine: Engine | None, chance: Chance, console: Console
) -> AsyncIterator[ControlParts]:
    # A route, both its models' estimators and every choice of a call count the same prompt; refinement another one.
    count_tokens = lru_cache(maxsize=2)(packaged_tokenizer().chat_length)
    parts = control_parts(
        record_folder(os.environ),
        open_store(settings.policy_dir, os.environ),
        chance.draw_seed,
        count_tokens=count_tokens,
        max_tokens=backend.models()[0].default_max_tokens,
    )
    routes = routes_for(settings, backend, count_tokens)
    ledger = None
    if engine is not None:
        check_prices(routes, prices_of(settings))
        ledger = ledger_in(engine, settings)
    savings = KnownSavings(figures=known_figures(state_folder(os.environ)), enabled=enabled_savings(settings))
    refiner = refiner_in(settings, os.environ, count_tokens, chance.draw_seed)
    cache = cache_parts(
        settings, audit_folder(os.environ), chance.clock, new_id=chance.new_id, draw_seed=chance.draw_seed
    )
    async with opened_reward(settings, os.environ, chance.clock) as desk:
        try:
            yield replace(
                parts, ledger=ledger, routes=routes, savings=savings, refiner=refiner, cache=cache, reward=desk
            )
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
