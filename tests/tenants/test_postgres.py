"""Tenants and keys in a real PostgreSQL: one code path, so the same life as in SQLite."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import suppress
from subprocess import SubprocessError

import pytest
from sqlalchemy import Engine

from unmask.database.engine import open_database
from unmask.database.errors import DatabaseUnavailableError
from unmask.database.place import database_url
from unmask.tenants.authenticator import Authenticator
from unmask.tenants.errors import KeyRefusedError, KeysUnavailableError, TenantActError
from unmask.tenants.quota import parse_quota
from unmask.tenants.role import KeyRole
from unmask.tenants.store import TenantStore
from unmask.tenants.token import SECRET_LENGTH, Token
from unmask.testing.manual_clock import ManualClock
from unmask.testing.postgres import PostgresServer, postgres_server
from unmask.testing.tenants import NOW, PEPPER, make_key, make_tenant

pytestmark = pytest.mark.slow

TOKEN = Token(public_id="aaaaaaaaaaaa", secret="s" * SECRET_LENGTH)
LIMITS = tuple(parse_quota(text) for text in ("requests=10/1m", "cost=2.5/1d", "concurrency=4"))
FULL = make_key(
    roles=(KeyRole.APPROVER, KeyRole.OPERATOR),
    name="Ann Ó Flaithearta",
    classes=("batch",),
    default_task="sort",
    quotas=LIMITS,
    expires=NOW + 60,
)


@pytest.fixture(name="server", scope="module")
def _server() -> Iterator[PostgresServer]:
    with postgres_server() as server:
        yield server


@pytest.fixture(name="engine")
def _engine(server: PostgresServer, request: pytest.FixtureRequest) -> Iterator[Engine]:
    url = server.database(request.node.name[:60])
    engine = open_database(database_url(url.render_as_string(hide_password=False), {}))
    yield engine
    engine.dispose()


def test_what_is_kept_is_what_was_given(engine: Engine) -> None:
    """And what is changed is what comes back."""
    store = TenantStore(engine)
    tenant = make_tenant(classes=("batch", "night"), quotas=LIMITS[:1])
    store.create_tenant(tenant)
    store.create_key(FULL, TOKEN, PEPPER)
    found = store.find(FULL.public_id)

    assert found is not None
    assert (found.key, found.tenant, found.digest) == (FULL, tenant, PEPPER.digest(TOKEN))
    assert (store.tenants(), store.keys()) == ((tenant,), (FULL,))
    assert store.peppers() == {PEPPER.fingerprint}
    store.limit_key(FULL.public_id, LIMITS[2:])
    store.limit_tenant("acme", ())
    store.allow_tenant("acme", None)
    store.expire_key(FULL.public_id, None)
    store.disable_key(FULL.public_id, NOW + 1)
    store.disable_key(FULL.public_id, NOW + 2)
    key = store.key(FULL.public_id)
    assert (key.quotas, key.expires, key.disabled) == (LIMITS[2:], None, NOW + 1)
    assert store.tenant("acme") == make_tenant()
    assert store.find("' OR 1=1 --") is None


def test_two_that_make_the_same_tenant_take_turns(engine: Engine) -> None:
    """The second is told that the name is taken, as it would be a minute later."""
    ended: list[str] = []
    barrier = threading.Barrier(4)

    def create() -> None:
        barrier.wait()
        try:
            TenantStore(engine).create_tenant(make_tenant(quotas=LIMITS))
        except TenantActError:
            ended.append("taken")
        else:
            ended.append("made")

    threads = [threading.Thread(target=create) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(ended) == ["made", "taken", "taken", "taken"]
    assert TenantStore(engine).tenants() == (make_tenant(quotas=LIMITS),)


async def until_up(server: PostgresServer, store: TenantStore) -> None:
    """Start the server, and wait until it answers, as long as it takes."""
    while True:
        # Starting it gives up after ten seconds, or where the one before has not gone yet; recovery may take longer.
        with suppress(SubprocessError, AssertionError):
            server.start()
        try:
            store.peppers()
        except DatabaseUnavailableError:
            await asyncio.sleep(0.2)
        else:
            return


async def test_nobody_is_let_in_while_the_server_is_down(engine: Engine, server: PostgresServer) -> None:
    """Afterwards all is as before, without a restart of ours."""
    store = TenantStore(engine)
    store.create_tenant(make_tenant())
    store.create_key(make_key(), TOKEN, PEPPER)
    clock = ManualClock()
    door = Authenticator(store, PEPPER, clock=clock, now=lambda: NOW)
    assert (await door.authenticate(TOKEN.text)).tenant == "acme"
    server.kill()
    clock.advance(60)
    with pytest.raises(KeysUnavailableError):
        await door.authenticate(TOKEN.text)
    with pytest.raises(DatabaseUnavailableError):
        store.disable_key(TOKEN.public_id, NOW)
    await until_up(server, store)
    assert (await door.authenticate(TOKEN.text)).tenant == "acme"
    store.disable_key(TOKEN.public_id, NOW)
    clock.advance(60)
    with pytest.raises(KeyRefusedError):
        await door.authenticate(TOKEN.text)
