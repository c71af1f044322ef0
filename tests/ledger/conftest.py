"""Both kinds of database, for every test that asks for a world."""

from collections.abc import Iterator

import pytest

from tests.ledger.databases import Databases, World


@pytest.fixture(scope="session")
def databases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Databases]:
    """Databases of both kinds."""
    made = Databases(tmp_path_factory.mktemp("databases"))
    yield made
    made.stop()


# A server takes seconds to start, so there is one test of it in the fast run, `test_postgresql`.
@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def world(request: pytest.FixtureRequest, databases: Databases) -> World:
    """An empty ledger, in each kind of database."""
    return World(databases.make(request.param))


@pytest.fixture
def file_world(databases: Databases) -> World:
    """An empty ledger in SQLite, for what does not depend on the database."""
    return World(databases.make("sqlite"))
