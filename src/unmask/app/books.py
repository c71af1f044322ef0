"""Builds what requests are booked in."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Engine

from unmask.clock import SystemClock, SystemWallClock
from unmask.config import Settings
from unmask.config.choices import KeyMode
from unmask.database.engine import open_database
from unmask.database.place import database_url
from unmask.ledger.book import DatabaseLedger, Surroundings, open_ledger
from unmask.ledger.machine import SystemMachine
from unmask.ledger.price import PriceBook
from unmask.ledger.price_file import read_prices


@contextmanager
def opened_engine(settings: Settings, environ: Mapping[str, str]) -> Iterator[Engine | None]:
    """Open the one database of the ledger and of keys, for as long as the block runs.

    There is one where the settings name it, and where keys are asked for: without a ledger their limits would hold
    nobody. A server of one's own has none.

    Raises:
        ConfigError: the database is none.
        DatabaseSchemaError: it was made by a newer version.
        DatabaseUnavailableError: it does not answer.
    """
    if settings.database is None and settings.keys is KeyMode.OFF:
        yield None
        return
    engine = open_database(database_url(settings.database, environ), durability=settings.durability)
    try:
        yield engine
    finally:
        engine.dispose()


def prices_of(settings: Settings) -> PriceBook:
    """Read the price book.

    Raises:
        ConfigError: it cannot be read.
    """
    return read_prices(None if settings.prices is None else Path(settings.prices).expanduser())


def ledger_in(engine: Engine, settings: Settings) -> DatabaseLedger:
    """Open the ledger; requests of a server that has ended meanwhile end as lost.

    Raises:
        ConfigError: the price book cannot be read, or its version is known with other prices.
        DatabaseUnavailableError: the database does not answer or cannot be written.
    """
    prices = prices_of(settings)
    around = Surroundings(clock=SystemClock(), wall=SystemWallClock(), machine=SystemMachine(), random=os.urandom)
    return open_ledger(engine, prices, around)
