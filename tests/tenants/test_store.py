"""Behaviour of `unmask.tenants.store`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, MetaData, event, inspect, select

from unmask.database.engine import connect
from unmask.database.errors import DatabaseUnavailableError
from unmask.database.place import database_url
from unmask.errors import InvalidRequestError
from unmask.ledger.owner import PLATFORM
from unmask.tenants.errors import TenantActError
from unmask.tenants.quota import parse_quota
from unmask.tenants.role import KeyRole
from unmask.tenants.store import RESERVED, TenantStore
from unmask.tenants.tables import KEYS, METADATA, QUOTAS, TENANTS
from unmask.tenants.token import ID_LENGTH, LOWER, SECRET_LENGTH, Token
from unmask.testing.tenants import NOW, PEPPER, make_key, make_tenant

Act = Callable[[], object]
LIMITS = tuple(parse_quota(text) for text in ("requests=10/1m", "requests=100/1d", "cost=2.5/1d", "concurrency=4"))
FULL = make_key(
    roles=(KeyRole.APPROVER, KeyRole.OPERATOR),
    name="Ann Ó Flaithearta, on call",
    classes=("batch", "interactive"),
    default_task="sort",
    quotas=LIMITS,
    expires=NOW + 60,
)


def token_of(public_id: str = "aaaaaaaaaaaa", secret: str = "s") -> Token:
    """Return a token whose secret is one letter over and over."""
    return Token(public_id=public_id, secret=secret * SECRET_LENGTH)


def add(store: TenantStore, public_id: str = "aaaaaaaaaaaa", **changes: Any) -> None:  # noqa: ANN401 - any field
    """Put a key into a store."""
    store.create_key(make_key(public_id, **changes), token_of(public_id), PEPPER)


def test_what_is_kept_is_what_was_given(store: TenantStore) -> None:
    """Every field comes back, limits in one order."""
    tenant = make_tenant("globex", classes=("batch",), quotas=LIMITS[:2])
    store.create_tenant(tenant)
    store.create_key(FULL, token_of(), PEPPER)
    add(store, "bbbbbbbbbbbb", tenant="globex")
    found = store.find(FULL.public_id)

    assert store.tenants() == (make_tenant(), tenant)
    assert store.tenant("globex") == tenant
    assert store.keys() == (FULL, make_key("bbbbbbbbbbbb", tenant="globex"))
    assert store.keys("globex") == (store.key("bbbbbbbbbbbb"),)
    assert found is not None
    assert (found.key, found.tenant, found.digest) == (FULL, make_tenant(), PEPPER.digest(token_of()))


def test_no_secret_is_kept(store: TenantStore, engine: Engine, tmp_path: Path) -> None:
    """Neither in a table nor anywhere in the files."""
    add(store)
    engine.dispose()
    content = b"".join(path.read_bytes() for path in tmp_path.iterdir())

    assert b"aaaaaaaaaaaa" in content
    assert b"s" * 20 not in content
    assert PEPPER.digest(token_of()) in content


def test_classes_tell_none_from_all(store: TenantStore) -> None:
    """A key that may use no class is not one that may use every one."""
    add(store, classes=())
    assert store.key("aaaaaaaaaaaa").classes == ()
    store.allow_tenant("acme", ())
    assert store.tenant("acme").classes == ()
    store.allow_tenant("acme", None)
    assert store.tenant("acme").classes is None


def test_a_key_is_disabled_for_good(store: TenantStore) -> None:
    """The first time counts; neither a second one nor another expiry brings it back."""
    add(store)
    store.disable_key("aaaaaaaaaaaa", NOW + 1)
    store.disable_key("aaaaaaaaaaaa", NOW + 2)
    store.expire_key("aaaaaaaaaaaa", None)

    assert store.key("aaaaaaaaaaaa").disabled == NOW + 1


def test_a_tenant_is_disabled_and_enabled(store: TenantStore) -> None:
    """Its keys stay as they are meanwhile."""
    add(store)
    store.disable_tenant("acme", NOW)
    found = store.find("aaaaaaaaaaaa")
    assert found is not None
    assert (found.tenant.disabled, found.key.disabled) == (NOW, None)
    store.disable_tenant("acme", None)

    assert store.tenant("acme").disabled is None


def test_limits_replace_those_before(store: TenantStore) -> None:
    """Of a key and of a tenant, each by itself, even where both have the same name."""
    store.create_tenant(make_tenant("aaaaaaaaaaaa", quotas=LIMITS[:1]))
    add(store, quotas=LIMITS)
    store.limit_key("aaaaaaaaaaaa", LIMITS[2:])
    store.limit_tenant("acme", LIMITS[:2])

    assert store.key("aaaaaaaaaaaa").quotas == LIMITS[2:]
    assert store.tenant("aaaaaaaaaaaa").quotas == LIMITS[:1]
    store.limit_key("aaaaaaaaaaaa", ())
    assert store.key("aaaaaaaaaaaa").quotas == ()
    assert store.tenant("acme").quotas == LIMITS[:2]


def test_an_act_that_fails_leaves_nothing_behind(store: TenantStore) -> None:
    """The key and its limits go in together or not at all."""
    with pytest.raises(InvalidRequestError, match="one of each kind and window"):
        add(store, quotas=(LIMITS[0], parse_quota("requests=7/60s")))
    with pytest.raises(InvalidRequestError):
        store.limit_tenant("acme", (LIMITS[0], parse_quota("requests=7/60s")))

    assert store.keys() == ()
    assert store.tenant("acme").quotas == ()


def test_what_is_not_there_is_said_to_be(store: TenantStore) -> None:
    """Each act names what it looked for, and how to find or make it."""
    of_keys: tuple[Act, ...] = (
        lambda: store.key("zzzzzzzzzzzz"),
        lambda: store.disable_key("zzzzzzzzzzzz", NOW),
        lambda: store.expire_key("zzzzzzzzzzzz", NOW),
        lambda: store.limit_key("zzzzzzzzzzzz", ()),
    )
    for act in of_keys:
        with pytest.raises(TenantActError, match=r"key is 'zzzzzzzzzzzz'.*unmask keys list"):
            act()
    of_tenants: tuple[Act, ...] = (
        lambda: store.tenant("nix"),
        lambda: store.limit_tenant("nix", ()),
        lambda: store.allow_tenant("nix", ()),
        lambda: store.disable_tenant("nix", NOW),
        lambda: add(store, tenant="nix"),
    )
    for act in of_tenants:
        with pytest.raises(TenantActError, match=r"tenant is 'nix'.*unmask tenants create nix"):
            act()


def test_a_whole_key_is_never_repeated(store: TenantStore) -> None:
    """Whoever sends a key in place of its id reads no secret in the error."""
    with pytest.raises(TenantActError) as caught:
        store.key(token_of("zzzzzzzzzzzz").text)

    assert "sss" not in str(caught.value)


@pytest.mark.parametrize("name", ["", "a b", "a,b", "-a", "ä", "a" * 65, "a\n", "'; DROP TABLE tenant; --"])
def test_names_are_checked(store: TenantStore, name: str) -> None:
    """They stand in lists with commas, in metrics and in scopes of limits."""
    acts: tuple[Act, ...] = (
        lambda: store.create_tenant(make_tenant(name)),
        lambda: store.create_tenant(make_tenant("b", classes=(name,))),
        lambda: store.allow_tenant("acme", (name,)),
        lambda: add(store, classes=(name,)),
        lambda: add(store, default_task=name),
    )
    for act in acts:
        with pytest.raises(TenantActError, match="1 to 64 letters"):
            act()


@pytest.mark.parametrize("name", ["", " ann", "ann\n", "a" * 129, "\x1b[31mann"])
def test_a_keys_name_is_one_line(store: TenantStore, name: str) -> None:
    """Approvals are signed with it, and terminals show it."""
    with pytest.raises(TenantActError, match="1 to 128 printable characters"):
        add(store, name=name)


def test_a_key_has_a_role(store: TenantStore) -> None:
    """Without one it would open nothing."""
    with pytest.raises(TenantActError, match="Without a role"):
        add(store, roles=())


def test_a_name_is_taken_once(store: TenantStore) -> None:
    """That of the ledger's own account is nobody's."""
    with pytest.raises(TenantActError, match="a name that is not taken"):
        store.create_tenant(make_tenant())
    with pytest.raises(TenantActError, match="another name"):
        store.create_tenant(make_tenant(PLATFORM))

    assert frozenset({PLATFORM}) == RESERVED


def test_peppers_are_told_apart(store: TenantStore) -> None:
    """A database knows with which ones its keys were made."""
    assert store.peppers() == frozenset()
    add(store)
    assert store.peppers() == {PEPPER.fingerprint}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(st.text(max_size=40) | st.sampled_from(["' OR '1'='1", "a' UNION SELECT * FROM tenant_key --", "%", "_" * 12]))
def test_sql_in_a_key_is_text(store: TenantStore, public_id: str) -> None:
    """An id is looked for as it is, whatever it holds, and finds nothing but itself."""
    before = store.tenants()
    if not store.keys():
        add(store)

    if public_id != "aaaaaaaaaaaa" and "\0" not in public_id:
        assert store.find(public_id) is None
    assert store.tenants() == before
    assert len(store.keys()) == 1


@pytest.mark.parametrize("public_id", ["aaaaaaaaaaaa", "bbbbbbbbbbbb", "-" * ID_LENGTH])
def test_a_look_takes_the_same_statements_whether_it_finds_or_not(
    store: TenantStore, engine: Engine, public_id: str
) -> None:
    """So how long it takes says nothing."""
    add(store)
    add(store, "cccccccccccc", disabled=NOW)
    said: list[str] = []
    event.listen(engine, "before_cursor_execute", lambda *args: said.append(args[2]))
    store.find("cccccccccccc")
    of_disabled = said.copy()
    said.clear()
    store.find(public_id)

    assert said == of_disabled
    assert sum(statement.startswith("SELECT") for statement in said) == 3


def test_a_database_that_is_gone_says_so(tmp_path: Path) -> None:
    """It may be back later; nobody is let in meanwhile."""
    engine = connect(database_url(str(tmp_path / "no tables.db"), {}))
    store = TenantStore(engine)

    with pytest.raises(DatabaseUnavailableError):
        store.find("aaaaaaaaaaaa")
    with pytest.raises(DatabaseUnavailableError):
        store.create_tenant(make_tenant())
    engine.dispose()


def test_migrations_make_the_tables_that_are_used(engine: Engine) -> None:
    """Names, types and keys are the same in both."""
    made = MetaData()
    made.reflect(engine, only=list(METADATA.tables))
    for table in (TENANTS, KEYS, QUOTAS):
        found = made.tables[table.name]
        assert [
            (column.name, str(column.type.compile(engine.dialect)), column.nullable, column.primary_key)
            for column in found.columns
        ] == [
            (column.name, str(column.type.compile(engine.dialect)), column.nullable, column.primary_key)
            for column in table.columns
        ]
        assert {index.name for index in found.indexes} == {index.name for index in table.indexes}
        assert len(found.foreign_keys) == len(table.foreign_keys)
    assert inspect(engine).has_table("ledger_request")
    with engine.connect() as connection:
        assert connection.execute(select(KEYS)).all() == []


def test_ids_are_those_of_tokens(store: TenantStore) -> None:
    """Every id that may be drawn can be kept."""
    public_id = LOWER[-ID_LENGTH:]
    add(store, public_id)

    assert store.key(public_id).public_id == public_id
