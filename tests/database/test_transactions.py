"""Behaviour of a connection that is kept for many transactions."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import OperationalError

from unmask.database.engine import open_database
from unmask.database.errors import DatabaseUnavailableError
from unmask.database.place import database_url
from unmask.database.transactions import KeptConnection, reading

LOCK = 1


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the database is."""
    return tmp_path / "a.db"


@pytest.fixture
def engine(path: Path) -> Iterator[Engine]:
    """A database with our tables."""
    made = open_database(database_url(str(path), {}))
    yield made
    made.dispose()


def number_in(engine: Engine) -> int:
    """Return the number that tests write."""
    with reading(engine) as connection:
        return int(connection.execute(text("SELECT number FROM ledger_head")).scalar_one())


def raise_number(connection: Connection) -> None:
    """Add one to it."""
    connection.execute(text("UPDATE ledger_head SET number = number + 1"))


def test_transactions_share_a_connection(engine: Engine) -> None:
    """Each is committed by itself, and savepoints inside work as anywhere."""
    kept, used = KeptConnection(engine, LOCK), []
    for _ in range(3):
        with kept.writing() as connection:
            used.append(connection)
            raise_number(connection)
            savepoint = connection.begin_nested()
            raise_number(connection)
            savepoint.rollback()
    kept.close()

    assert len({id(connection) for connection in used}) == 1
    assert number_in(engine) == 3


def test_a_failure_is_rolled_back_and_the_next_has_another_connection(engine: Engine) -> None:
    """Whatever was wrong with the first."""
    kept = KeptConnection(engine, LOCK)
    with kept.writing() as first:
        raise_number(first)
    with pytest.raises(OperationalError), kept.writing() as connection:
        connection.execute(text("UPDATE ledger_head SET number = 5 RETURNING nothing"))
    with kept.writing() as connection:
        raise_number(connection)
    kept.close()

    assert connection is not first
    assert first.closed
    assert number_in(engine) == 2


def test_a_connection_that_broke_is_replaced(engine: Engine) -> None:
    """As when the server was started anew: one transaction fails, the next does not."""
    kept = KeptConnection(engine, LOCK)
    with kept.writing() as connection:
        raise_number(connection)
        driver = connection.connection.driver_connection
    assert driver is not None
    driver.close()
    with pytest.raises(Exception, match="closed"), kept.writing() as connection:
        raise_number(connection)
    engine.dispose()
    with kept.writing() as connection:
        raise_number(connection)
    kept.close()

    assert number_in(engine) == 2


def test_a_file_that_was_deleted_is_written_to_no_more(engine: Engine, path: Path) -> None:
    """However long its connection has been open; one that is put back is written to again."""
    kept = KeptConnection(engine, LOCK)
    with kept.writing() as connection:
        raise_number(connection)
    path.rename(path.with_name("b.db"))
    with pytest.raises(DatabaseUnavailableError, match="deleted or replaced"), kept.writing():
        pass
    path.with_name("b.db").rename(path)
    with kept.writing() as connection:
        raise_number(connection)
    kept.close()

    assert number_in(engine) == 2
