"""A database of keys."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from unmask.database.engine import connect, open_database
from unmask.database.place import database_url
from unmask.tenants.store import TenantStore
from unmask.testing.tenants import make_tenant


@pytest.fixture(name="empty", scope="session")
def _empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a database without rows, made once: migrations take longer than most tests."""
    path = tmp_path_factory.mktemp("tenants") / "empty.db"
    open_database(database_url(str(path), {})).dispose()
    return path


@pytest.fixture(name="engine")
def _engine(empty: Path, tmp_path: Path) -> Iterator[Engine]:
    path = tmp_path / "keys.db"
    shutil.copy(empty, path)
    engine = connect(database_url(str(path), {}))
    yield engine
    engine.dispose()


@pytest.fixture(name="store")
def _store(engine: Engine) -> TenantStore:
    """Return a store with the tenant acme in it."""
    store = TenantStore(engine)
    store.create_tenant(make_tenant())
    return store
