"""Statements that are written out once: building and looking one up takes longer than what it does to a row or two."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Delete, Dialect, Insert, Select, Update
from sqlalchemy.engine.interfaces import DBAPICursor
from sqlalchemy.exc import DBAPIError

Statement = Insert | Update | Delete | Select[Any]
Values = Mapping[str, object]
"""Values of a statement's parameters: of its columns in an insert, else of its ``bindparam``s."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Written:
    """A statement for one kind of database.

    Attributes:
        names: of its parameters, in the order of its marks where these have no names.
        constants: values that are parts of the statement itself.
    """

    text: str
    names: tuple[str, ...]
    has_names: bool
    constants: Values

    def given(self, values: Values) -> Any:  # noqa: ANN401 - as the driver wants them
        """Return values as the driver takes them."""
        whole = {**self.constants, **values}
        if self.has_names:
            return {name: whole[name] for name in self.names}
        return tuple([whole[name] for name in self.names])


class Prepared:
    """A statement with parameters, kept as text for each kind of database that it has been run on.

    It runs in its connection's transaction, but past SQLAlchemy's execution of statements, which for a row or two
    takes several times what the driver does. Values go to the driver as they are and come back as it has them, so that
    it is for numbers, texts and truth values only. Errors are SQLAlchemy's, as those of any other statement.
    """

    def __init__(self, statement: Statement) -> None:
        self._statement = statement
        self._written: dict[str, _Written] = {}

    def rows(self, connection: Connection, values: Values) -> list[tuple[Any, ...]]:
        """Run it once and return its rows."""
        written = self._for(connection.dialect)
        with _cursor(connection, written.text) as cursor:
            cursor.execute(written.text, written.given(values))
            return list(cursor.fetchall())

    def count(self, connection: Connection, values: Values) -> int:
        """Run it once and return how many rows it has changed."""
        written = self._for(connection.dialect)
        with _cursor(connection, written.text) as cursor:
            cursor.execute(written.text, written.given(values))
            return int(cursor.rowcount)

    def each(self, connection: Connection, rows: Sequence[Values]) -> None:
        """Run it for each row, without results; for none, not at all."""
        if not rows:
            return
        written = self._for(connection.dialect)
        with _cursor(connection, written.text) as cursor:
            if len(rows) == 1:
                cursor.execute(written.text, written.given(rows[0]))
            else:
                cursor.executemany(written.text, [written.given(row) for row in rows])

    def _for(self, dialect: Dialect) -> _Written:
        written = self._written.get(dialect.name)
        if written is None:
            compiled = self._statement.compile(dialect=dialect)
            constants = {name: value for name, value in compiled.params.items() if value is not None}
            marks = getattr(compiled, "positiontup", None)
            written = self._written[dialect.name] = _Written(
                text=str(compiled), names=tuple(marks or compiled.params), has_names=marks is None, constants=constants
            )
        return written


def run(connection: Connection, text: str) -> None:
    """Run a statement without parameters and results, past SQLAlchemy's execution like those that are prepared."""
    with _cursor(connection, text) as cursor:
        cursor.execute(text)


@contextmanager
def _cursor(connection: Connection, text: str) -> Iterator[DBAPICursor]:
    driver = connection.dialect.loaded_dbapi
    cursor = connection.connection.cursor()
    try:
        yield cursor
    except driver.Error as error:
        raise DBAPIError.instance(text, None, error, driver.Error, dialect=connection.dialect) from error
    finally:
        cursor.close()
