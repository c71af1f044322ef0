"""Opens a database: connections set up for durability, and the tables of this version."""

import sqlite3
from pathlib import Path

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.exc import DisconnectionError
from sqlalchemy.pool import ConnectionPoolEntry

from unmask.config.durability import Durability
from unmask.database.errors import DatabaseUnavailableError
from unmask.database.failures import translated
from unmask.database.migrate import migrate
from unmask.database.place import PARAM
from unmask.database.prepared import run
from unmask.database.transactions import WRITES
from unmask.errors import ConfigError

WAIT_S = 5
"""Seconds to wait for a connection, and for the other process that writes to an SQLite file."""
_FILE = "file"
"""Where a connection keeps which file it has open."""
_OWNER_ONLY = 0o600
_FOLDER_OWNER_ONLY = 0o700


def open_database(url: URL, *, durability: Durability = Durability.PROCESS) -> Engine:
    """Open the database at a URL of `unmask.database.place.database_url`, and bring its tables up to date.

    The engine is safe to use from several threads. Whoever opens it disposes of it.

    Raises:
        ConfigError: its driver is not installed, or the file's folder cannot be made.
        DatabaseSchemaError: it was made by a newer version.
        DatabaseUnavailableError: it does not answer or cannot be written.
    """
    engine = connect(url, durability=durability)
    try:
        migrate(engine)
    except BaseException:
        engine.dispose()
        raise
    return engine


def connect(url: URL, *, durability: Durability = Durability.PROCESS) -> Engine:
    """Return an engine as `open_database`, without a look at the tables."""
    with translated():
        if url.get_backend_name() == "sqlite":
            return _sqlite(url, durability)
        return _postgresql(url, durability)


def _sqlite(url: URL, durability: Durability) -> Engine:
    assert url.database is not None, "`database_url` lets no other through"
    path = Path(url.database)
    _make_file(path)

    def open_file() -> sqlite3.Connection:
        # The file is there by now. Made anew, by a server that runs, it would have none of what was booked.
        address = f"{path.absolute().as_uri()}?mode=rw"
        # Transactions are begun in `_begin`, by name, and nowhere else.
        return sqlite3.connect(address, uri=True, timeout=WAIT_S, isolation_level=None, check_same_thread=False)

    engine = create_engine(url, creator=open_file)
    synchronous = "FULL" if durability is Durability.POWER else "NORMAL"

    @event.listens_for(engine, "connect")
    def _set_up(connection: sqlite3.Connection, entry: ConnectionPoolEntry) -> None:
        entry.info[_FILE] = _identity(path)
        connection.execute(f"PRAGMA busy_timeout = {WAIT_S * 1000}")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {synchronous}")
        connection.execute("PRAGMA foreign_keys = ON")

    @event.listens_for(engine, "checkout")
    def _check_out(_connection: object, entry: ConnectionPoolEntry, _fairy: object) -> None:
        # A file that is deleted or replaced can be written to for as long as it is open, and then nobody finds it.
        if entry.info[_FILE] != _identity(path):
            raise DisconnectionError("the file of the database was deleted or replaced")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # A connection that is kept is checked out once for many transactions.
        if connection.connection.info[_FILE] != _identity(path):
            raise DatabaseUnavailableError(f"{path} was deleted or replaced; put it back", retry_after_s=1)
        # A transaction that reads first and writes later would be refused when another has written in between.
        writes = connection.get_execution_options().get(WRITES, False)
        run(connection, "BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what tells a file from another one of the same name; ``None`` where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _postgresql(url: URL, durability: Durability) -> Engine:
    # `off` would lose commits when the database's own process is killed, so both wait for its disk, and `power` for
    # those of synchronous standbys too, where there are any.
    commit = "on" if durability is Durability.POWER else "local"
    options = f"-c synchronous_commit={commit} -c lock_timeout={WAIT_S}s -c timezone=UTC"
    timeouts = {"connect_timeout": WAIT_S, "keepalives_idle": WAIT_S, "tcp_user_timeout": 2 * WAIT_S * 1000}
    try:
        return create_engine(
            url, connect_args={"options": options, "application_name": "unmask"} | timeouts, pool_pre_ping=True
        )
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"{PARAM} is a PostgreSQL database, and {error.name} is not installed; "
            "install it with `pip install 'unmask[postgres]'`",
            param=PARAM,
        ) from error


def _make_file(path: Path) -> None:
    """Make the file before SQLite does, so that it, and what SQLite puts beside it, is its owner's alone."""
    try:
        path.parent.mkdir(mode=_FOLDER_OWNER_ONLY, parents=True, exist_ok=True)
        path.touch(mode=_OWNER_ONLY, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be made: {error.strerror or error}; name another file in {PARAM}", param=PARAM
        ) from error
