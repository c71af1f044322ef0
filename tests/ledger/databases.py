"""Databases of both kinds, with the tables in them; every test gets one of its own."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Awaitable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

from sqlalchemy import URL, Connection, Engine, func, select
from sqlalchemy.sql.selectable import FromClause

from unmask.clock import SystemClock
from unmask.database.engine import connect, open_database
from unmask.database.place import database_url
from unmask.database.transactions import reading
from unmask.ledger.book import DatabaseLedger, Patience, Surroundings, open_ledger
from unmask.ledger.price import Price, PriceBook
from unmask.ledger.verify import Verified, verify_ledger
from unmask.ledger.writer import WriterLimits
from unmask.testing.ledgers import ManualMachine, ManualWallClock
from unmask.testing.postgres import PostgresServer, postgres_server

PRICES = PriceBook(version="2026-11", prices=(Price(token_step=250_000, prefill_token=50_000),))
"""A quarter of a micro-unit for a canvas token's step: 40 for `make_attempt`, and 2 for its prompt."""
PATIENT = Patience(reserve_s=600, settle_s=600, lease_s=3_600)
"""However slow the machine, no test fails for want of time."""


@dataclass(slots=True)
class Databases:
    """Makes databases: files copied from one, or databases of a server that starts when first asked for."""

    folder: Path
    _template: Path | None = None
    _server: PostgresServer | None = None
    _numbers: Iterator[int] = field(default_factory=count)
    _stop: Any = None

    def make(self, kind: str) -> URL:
        """Return a new database with the tables of this version."""
        return self._sqlite() if kind == "sqlite" else self._postgresql()

    def server(self) -> PostgresServer:
        """Return the PostgreSQL server."""
        if self._server is None:
            self._stop = postgres_server()
            self._server = self._stop.__enter__()
            open_database(self._server.database("tables")).dispose()
        return self._server

    def stop(self) -> None:
        """Stop the server, if it was started."""
        if self._stop is not None:
            self._stop.__exit__(None, None, None)

    def _sqlite(self) -> URL:
        if self._template is None:
            self._template = self.folder / "template.db"
            open_database(database_url(str(self._template), {})).dispose()
        path = self.folder / f"{next(self._numbers)}.db"
        shutil.copy(self._template, path)
        return database_url(str(path), {})

    def _postgresql(self) -> URL:
        return self.server().database(f"test{next(self._numbers)}", template="tables")


@dataclass(slots=True)
class World:
    """A database, and what ledgers in it are surrounded by."""

    url: URL
    wall: ManualWallClock = field(default_factory=ManualWallClock)
    machine: ManualMachine = field(default_factory=ManualMachine)
    prices: PriceBook = PRICES
    _random: Random = field(default_factory=lambda: Random(0))

    def engine(self) -> Engine:
        """Open the database."""
        return open_database(self.url)

    def open(
        self, engine: Engine, *, patience: Patience | None = None, limits: WriterLimits | None = None
    ) -> DatabaseLedger:
        """Open a ledger that lives in a process of its own, as far as it can tell."""
        around = Surroundings(clock=SystemClock(), wall=self.wall, machine=self.machine, random=self._random.randbytes)
        return open_ledger(engine, self.prices, around, patience=patience or PATIENT, limits=limits)

    @asynccontextmanager
    async def ledger(
        self, *, patience: Patience | None = None, limits: WriterLimits | None = None
    ) -> AsyncIterator[DatabaseLedger]:
        """Open a ledger for as long as the block runs."""
        engine = self.engine()
        try:
            ledger = self.open(engine, patience=patience, limits=limits)
            try:
                yield ledger
            finally:
                await ledger.close()
        finally:
            engine.dispose()

    def verify(self) -> Verified:
        """Verify the ledger."""
        with self.reading() as connection:
            return verify_ledger(connection)

    def count(self, table: FromClause) -> int:
        """Return how many rows a table has."""
        with self.reading() as connection:
            return int(connection.execute(select(func.count()).select_from(table)).scalar_one())

    def rows(self, table: FromClause) -> list[dict[str, Any]]:
        """Return the rows of a table."""
        with self.reading() as connection:
            return [dict(row) for row in connection.execute(select(table)).mappings()]

    def reading(self) -> "_Reading":
        """Read with an engine of its own."""
        return _Reading(self.url)


class _Reading:
    def __init__(self, url: URL) -> None:
        self._engine = connect(url)
        self._block = reading(self._engine)

    def __enter__(self) -> Connection:
        return self._block.__enter__()

    def __exit__(self, *error: object) -> None:
        self._block.__exit__(None, None, None)
        self._engine.dispose()


def crash(ledger: DatabaseLedger) -> None:
    """End a ledger as kill -9 does: what it has booked stays, and it tells nobody that it goes."""
    ledger._processes.leave = lambda connection: None  # type: ignore[method-assign]
    ledger._writer.close()


async def settled(*awaitables: Awaitable[object]) -> list[Any]:
    """Wait for all, errors included."""
    return await asyncio.gather(*awaitables, return_exceptions=True)
