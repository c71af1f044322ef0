"""Statements that are written out once."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from sqlalchemy import (
    Boolean,
    Column,
    Engine,
    Float,
    Integer,
    MetaData,
    Table,
    Text,
    bindparam,
    delete,
    insert,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from unmask.database.engine import connect
from unmask.database.place import database_url
from unmask.database.prepared import Prepared
from unmask.database.transactions import reading, writing
from unmask.testing.postgres import postgres_server

LOCK = 7
METADATA = MetaData()
THINGS = Table(
    "things",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("number", Integer, nullable=False),
    Column("share", Float),
    Column("is_good", Boolean, nullable=False),
)
INSERT = Prepared(insert(THINGS))
RAISE = Prepared(
    update(THINGS).where(THINGS.c.id == bindparam("_id")).values(number=THINGS.c.number + 10).returning(THINGS.c.number)
)
ONE = Prepared(select(THINGS).where(THINGS.c.id == bindparam("_id")))
DROP = Prepared(delete(THINGS).where(THINGS.c.id == bindparam("_id")))
ROWS = [
    {"id": "가", "number": 1, "share": None, "is_good": True},
    {"id": "b'; DROP TABLE things; --", "number": 2, "share": 0.5, "is_good": False},
]


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """Either database with an empty table."""
    with ExitStack() as stack:
        url = (
            database_url(str(tmp_path / "a.db"), {})
            if request.param == "sqlite"
            else stack.enter_context(postgres_server()).database("prepared")
        )
        made = connect(url)
        stack.callback(made.dispose)
        METADATA.create_all(made)
        yield made


def test_rows_come_back_as_they_were_given(engine: Engine) -> None:
    """Texts of any script, numbers, nothing and truth values; none of it is read as SQL."""
    with writing(engine, LOCK) as connection:
        INSERT.each(connection, ROWS)
        INSERT.each(connection, [])
    with reading(engine) as connection:
        found = [row for wanted in ROWS for row in ONE.rows(connection, {"_id": wanted["id"]})]
    assert found == [tuple(row.values()) for row in ROWS]


def test_values_that_are_part_of_a_statement_are_kept(engine: Engine) -> None:
    """Only what it names as a parameter has to be given; results come back as of any statement."""
    with writing(engine, LOCK) as connection:
        INSERT.each(connection, ROWS)
        assert RAISE.rows(connection, {"_id": "가"}) == [(11,)]
        assert RAISE.rows(connection, {"_id": "nobody"}) == []
        assert RAISE.count(connection, {"_id": "nobody"}) == 0
        DROP.each(connection, [{"_id": row["id"]} for row in ROWS])
        assert connection.execute(select(THINGS)).all() == []


def test_a_value_that_is_missing_is_an_error_before_anything_is_sent(engine: Engine) -> None:
    """It is a mistake of the code, not of the database."""
    with writing(engine, LOCK) as connection, pytest.raises(KeyError, match="number"):
        INSERT.each(connection, [{"id": "c", "share": None, "is_good": True}])


def test_errors_are_those_of_other_statements(engine: Engine) -> None:
    """Whoever catches SQLAlchemy's errors catches these."""
    with pytest.raises(IntegrityError), writing(engine, LOCK) as connection:
        INSERT.each(connection, [ROWS[0], ROWS[0]])
