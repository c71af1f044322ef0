"""Behaviour of `unmask.database`: where it is, what it is set to, and which tables are in it."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import text

from unmask.config.durability import Durability
from unmask.database.engine import connect, open_database
from unmask.database.errors import DatabaseSchemaError, DatabaseUnavailableError
from unmask.database.failures import translated
from unmask.database.place import database_url
from unmask.database.transactions import reading, writing
from unmask.errors import ConfigError
from unmask.ledger.tables import METADATA


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("/a/b.db", "sqlite+pysqlite:////a/b.db"),
        ("sqlite:////a/b.db", "sqlite+pysqlite:////a/b.db"),
        ("postgresql://ann:x@host:1/db", "postgresql+psycopg://ann:***@host:1/db"),
        ("postgres://host/db", "postgresql+psycopg://host/db"),
        ("postgresql+psycopg:///db?host=/socket", "postgresql+psycopg:///db?host=%2Fsocket"),
    ],
)
def test_places(given: str, found: str) -> None:
    """A path is a file; a URL names its kind, and we its driver."""
    assert database_url(given, {}).render_as_string() == found


def test_the_default_place_is_in_the_folder_of_state(tmp_path: Path) -> None:
    """Beside policies and records."""
    assert database_url(None, {"XDG_STATE_HOME": str(tmp_path)}).database == str(tmp_path / "unmask" / "unmask.db")


@pytest.mark.parametrize(
    "given",
    [
        "mysql://root:secret@host/db",
        "postgresql+asyncpg://u:secret@h/db",
        "sqlite://",
        "sqlite:///a?mode=ro",
        "://secret",
    ],
)
def test_other_places_are_refused_without_their_password(given: str) -> None:
    """The error says what is allowed."""
    with pytest.raises(ConfigError, match="allowed") as refused:
        database_url(given, {})

    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(("durability", "synchronous"), [(Durability.PROCESS, 1), (Durability.POWER, 2)])
def test_a_file_is_set_up_for_its_durability(tmp_path: Path, durability: Durability, synchronous: int) -> None:
    """Write-ahead log, NORMAL or FULL; the file is its owner's alone."""
    path = tmp_path / "folder" / "a.db"
    engine = open_database(database_url(str(path), {}), durability=durability)
    with engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar_one() == synchronous
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar_one() == "wal"
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar_one() == 1
    engine.dispose()

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_migrations_make_the_tables_that_the_code_uses(tmp_path: Path) -> None:
    """Nothing is left to be migrated."""
    engine = open_database(database_url(str(tmp_path / "a.db"), {}))
    with engine.connect() as connection:
        differences = compare_metadata(MigrationContext.configure(connection), METADATA)
    engine.dispose()

    ours = [change for change in differences if not str(change[0]).startswith("remove")]
    assert ours == []


def test_several_processes_may_open_it_at_once(tmp_path: Path) -> None:
    """One makes the tables, the others wait for it."""
    url = database_url(str(tmp_path / "a.db"), {})
    with ThreadPoolExecutor(4) as threads:
        engines = [opening.result() for opening in [threads.submit(open_database, url) for _ in range(4)]]
    for engine in engines:
        engine.dispose()


def test_a_database_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    """And left as it is."""
    url = database_url(str(tmp_path / "a.db"), {})
    open_database(url).dispose()
    engine = connect(url)
    with writing(engine, 1) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(DatabaseSchemaError, match="9999"):
        open_database(url)
    with reading(engine) as connection:
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one() == "9999"
    engine.dispose()


def test_a_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    """It is not overwritten."""
    path = tmp_path / "a.db"
    path.write_bytes(b"this is no database" * 100)
    with pytest.raises(DatabaseUnavailableError, match="not a database"):
        open_database(database_url(str(path), {}))

    assert path.read_bytes().startswith(b"this is no")


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    """By its path."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(ConfigError, match="name another file"):
        open_database(database_url(str(tmp_path / "file" / "a.db"), {}))


def test_a_server_that_does_not_answer_is_told() -> None:
    """Without its password."""
    with pytest.raises(DatabaseUnavailableError) as refused:
        open_database(database_url("postgresql://ann:secret@127.0.0.1:1/db", {}))

    assert "secret" not in str(refused.value)


def test_errors_inside_are_translated(tmp_path: Path) -> None:
    """With what the driver says and without the statement."""
    engine = connect(database_url(str(tmp_path / "a.db"), {}))
    with (
        pytest.raises(DatabaseUnavailableError, match="no such table: none") as told,
        translated(),
        reading(engine) as connection,
    ):
        connection.execute(text("SELECT * FROM none WHERE 1 = 1"))

    assert "WHERE" not in str(told.value)
    engine.dispose()


def test_a_file_that_was_deleted_is_written_to_no_more(tmp_path: Path) -> None:
    """An open file can be written to when its name is gone, and nobody would find what is in it."""
    path = tmp_path / "a.db"
    engine = open_database(database_url(str(path), {}))
    path.rename(tmp_path / "b.db")
    with pytest.raises(DatabaseUnavailableError, match="unable to open"), translated(), writing(engine, 1):
        pass
    assert not path.exists()

    (tmp_path / "b.db").rename(path)
    with writing(engine, 1) as connection:
        connection.execute(text("UPDATE ledger_head SET number = 7"))
    engine.dispose()


def test_a_file_that_was_replaced_is_opened_anew(tmp_path: Path) -> None:
    """A copy that was put back is the ledger from then on."""
    path, copy = tmp_path / "a.db", tmp_path / "copy.db"
    open_database(database_url(str(copy), {})).dispose()
    engine = open_database(database_url(str(path), {}))
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    copy.rename(path)
    with writing(engine, 1) as connection:
        connection.execute(text("UPDATE ledger_head SET number = 7"))
    engine.dispose()

    again = open_database(database_url(str(path), {}))
    with reading(again) as connection:
        assert connection.execute(text("SELECT number FROM ledger_head")).scalar_one() == 7
    again.dispose()
