"""Builds what tells who makes a request."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from sqlalchemy import Engine

from unmask.clock import SystemClock
from unmask.config import Settings
from unmask.config.choices import KeyMode
from unmask.database.engine import open_database
from unmask.database.place import database_url
from unmask.tenants.authenticator import Authenticator, open_authenticator
from unmask.tenants.pepper import Pepper, open_pepper, pepper_path
from unmask.tenants.store import TenantStore


@contextmanager
def opened_store(settings: Settings, environ: Mapping[str, str]) -> Iterator[TenantStore]:
    """Open tenants and keys for as long as the block runs.

    Raises:
        ConfigError: the database is none, or was made by a newer version.
        DatabaseUnavailableError: it does not answer.
    """
    engine = open_database(database_url(settings.database, environ), durability=settings.durability)
    try:
        yield TenantStore(engine)
    finally:
        engine.dispose()


def pepper_of(settings: Settings, environ: Mapping[str, str]) -> Pepper:
    """Return the secret that keys are hashed with; made where there is none.

    Raises:
        PepperError: it cannot be read or made.
    """
    return open_pepper(pepper_path(settings.pepper_file, environ))


def authenticator_in(engine: Engine, settings: Settings, environ: Mapping[str, str]) -> Authenticator | None:
    """Return what tells who makes a request; nothing where no keys are asked for.

    Raises:
        DatabaseUnavailableError: the database does not answer.
        PepperError: the pepper cannot be read, or is not that of the keys.
    """
    if settings.keys is KeyMode.OFF:
        return None
    return open_authenticator(TenantStore(engine), pepper_of(settings, environ), clock=SystemClock(), now=time.time)
