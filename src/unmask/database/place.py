"""Where the database is: the path of an SQLite file, or a URL."""

from collections.abc import Mapping
from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from unmask.config.state import state_folder
from unmask.errors import ConfigError

PARAM = "database"
ALLOWED = "the path of an SQLite file, sqlite:///PATH, or postgresql://USER:PASSWORD@HOST:PORT/NAME"
_DRIVERS = {"sqlite": "sqlite+pysqlite", "postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}


def database_url(database: str | None, environ: Mapping[str, str]) -> URL:
    """Return where the database is, with the driver that is used.

    Args:
        database: the setting; ``None`` is ``unmask.db`` in the folder of state.
        environ: environment variables, of which ``XDG_STATE_HOME`` counts.

    Raises:
        ConfigError: it is no path and no URL of a database that is supported. Passwords are never repeated.
    """
    try:
        if database is None:
            return _file(state_folder(environ) / "unmask.db")
        if "://" not in database:
            return _file(Path(database).expanduser())
    except RuntimeError as error:
        raise ConfigError(
            f"there is no home folder for the database: {error}; name a file in {PARAM}", param=PARAM
        ) from error
    return _checked(database)


def _file(path: Path) -> URL:
    return URL.create(_DRIVERS["sqlite"], database=str(path.absolute()))


def _checked(text: str) -> URL:
    try:
        url = make_url(text)
    except (ArgumentError, ValueError) as error:
        # The text may hold a password, so it is not repeated; the cause would do so.
        raise ConfigError(f"{PARAM} is no URL that can be read, allowed: {ALLOWED}", param=PARAM) from error
    name, _, driver = url.drivername.partition("+")
    supported = _DRIVERS.get(name)
    if supported is None or (driver and f"{name}+{driver}" != supported):
        raise ConfigError(f"{PARAM} is of kind {url.drivername!r}, allowed: {ALLOWED}", param=PARAM)
    if name == "sqlite":
        if not url.database or url.database == ":memory:" or url.query:
            raise ConfigError(
                f"{PARAM} is {url.render_as_string()!r}, which names no file of its own, allowed: {ALLOWED}",
                param=PARAM,
            )
        return _file(Path(url.database))
    return url.set(drivername=supported)
