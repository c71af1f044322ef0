"""Transactions: those that only read, and those that write, of which there is one at a time."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine, text

WRITES = "unmask_writes"
"""Execution option of connections whose transactions write."""


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
    with engine.connect() as connection:
        connection.execution_options(**{WRITES: True})
        with connection.begin():
            if engine.dialect.name == "postgresql":
                connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": lock})
            yield connection
