"""Transactions: those that only read, and those that write, of which there is one at a time."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import BigInteger, Connection, Engine, bindparam, func, select

from unmask.database.prepared import Prepared

WRITES = "unmask_writes"
"""Execution option of connections whose transactions write."""
_TAKE_TURN = Prepared(select(func.pg_advisory_xact_lock(bindparam("lock", type_=BigInteger))))


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """Begin a transaction that sees one state of the database throughout."""
    with engine.connect() as connection:
        if engine.dialect.name == "postgresql":
            connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        with connection.begin():
            yield connection


@contextmanager
def writing(engine: Engine, lock: int) -> Iterator[Connection]:
    """Begin a transaction in which what was read stays so: no other one of the same lock runs meanwhile.

    SQLite lets one transaction write at a time; PostgreSQL is asked to by a lock, named by a number.
    """
    with _connected(engine) as connection, _taking_turns(connection, lock):
        yield connection


class KeptConnection:
    """The connection of a thread that writes again and again, and need not be found and looked at each time.

    Whatever goes wrong in a transaction, the connection is given back, and the next transaction has another one.
    """

    def __init__(self, engine: Engine, lock: int) -> None:
        self._engine = engine
        self._lock = lock
        self._connection: Connection | None = None

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Begin a transaction as `writing` does."""
        if self._connection is None:
            self._connection = _connected(self._engine)
        try:
            with _taking_turns(self._connection, self._lock):
                yield self._connection
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Give the connection back."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


def _connected(engine: Engine) -> Connection:
    return engine.connect().execution_options(**{WRITES: True})


@contextmanager
def _taking_turns(connection: Connection, lock: int) -> Iterator[None]:
    with connection.begin():
        if connection.dialect.name == "postgresql":
            _TAKE_TURN.rows(connection, {"lock": lock})
        yield
