"""Statements that are written out once: building and looking one up takes longer than what it does to a row or two."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, CursorResult, Delete, Dialect, Insert, Select, Update

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

    Values go to the driver as they are, so that it is for numbers, texts and truth values only. Errors are
    SQLAlchemy's, as those of any other statement.
    """

    def __init__(self, statement: Statement) -> None:
        self._statement = statement
        self._written: dict[str, _Written] = {}

    def run(self, connection: Connection, values: Values) -> "CursorResult[Any]":
        """Run it once."""
        written = self._for(connection.dialect)
        return connection.exec_driver_sql(written.text, written.given(values))

    def run_each(self, connection: Connection, rows: Sequence[Values]) -> None:
        """Run it for each row, without results; for none, not at all."""
        if rows:
            written = self._for(connection.dialect)
            connection.exec_driver_sql(written.text, [written.given(row) for row in rows])

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
