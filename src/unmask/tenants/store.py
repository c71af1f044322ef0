"""Tenants and keys in the database; every value goes there as a bound parameter."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, Engine, RowMapping, Table, and_, delete, insert, or_, select, update

from unmask.database.failures import translated
from unmask.database.transactions import reading, writing
from unmask.tenants.errors import TenantActError, no_key, no_tenant
from unmask.tenants.key import Key
from unmask.tenants.pepper import Pepper
from unmask.tenants.quota import Quota, QuotaScope, distinct
from unmask.tenants.rows import Row, joined, key_of, key_row, micros, quota_rows, tenant_of, tenant_row
from unmask.tenants.tables import KEYS, QUOTAS, TENANTS
from unmask.tenants.tenant import Tenant
from unmask.tenants.token import Token

LOCK: Final = 0x756E6D6B_10
"""Number of the lock that changes of tenants and keys take turns by."""
LONGEST_NAME = 128
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
"""Of tenants, service classes and task types."""
ALLOWED_NAME = "1 to 64 letters (A to Z, a to z), digits, dots, dashes and underscores, a letter or digit first"
NOT_ASCII = (
    "Spell it in ASCII: most other scripts can write one name in several ways, which would be several names. "
    "What a key is called with --name may be in any script."
)
RESERVED: Final = frozenset({"platform"})
"""No tenant has this name: the books put it where what is charged to nobody goes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A key with its tenant and the digest that a token is compared with."""

    key: Key
    tenant: Tenant
    digest: bytes


class TenantStore:
    """Keeps tenants and keys; each call is a transaction, and may wait for the database.

    All of them raise a `DatabaseUnavailableError` where the database does not answer.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    # --- what a server asks ---

    def find(self, public_id: str) -> Found | None:
        """Return a key by its id; as many statements whether there is one or not."""
        with self._reading() as connection:
            row = connection.execute(select(KEYS).where(KEYS.c.public_id == public_id)).mappings().one_or_none()
            owner = "" if row is None else row["tenant"]
            tenant = connection.execute(select(TENANTS).where(TENANTS.c.name == owner)).mappings().one_or_none()
            quotas = _quotas(connection, tenants=(owner,), keys=(public_id,))
        if row is None or tenant is None:
            return None
        return Found(key=key_of(row, quotas), tenant=tenant_of(tenant, quotas), digest=bytes(row["digest"]))

    def peppers(self) -> frozenset[str]:
        """Return the fingerprints of the peppers that keys were made with."""
        with self._reading() as connection:
            return frozenset(connection.execute(select(KEYS.c.pepper).distinct()).scalars())

    # --- tenants ---

    def tenants(self) -> tuple[Tenant, ...]:
        """Return all tenants by name."""
        with self._reading() as connection:
            rows = connection.execute(select(TENANTS).order_by(TENANTS.c.name)).mappings().all()
            quotas = connection.execute(select(QUOTAS)).mappings().all()
        return tuple(tenant_of(row, quotas) for row in rows)

    def tenant(self, name: str) -> Tenant:
        """Return a tenant, or raise a `TenantActError`."""
        with self._reading() as connection:
            row = connection.execute(select(TENANTS).where(TENANTS.c.name == name)).mappings().one_or_none()
            quotas = _quotas(connection, tenants=(name,), keys=())
        if row is None:
            raise no_tenant(name)
        return tenant_of(row, quotas)

    def create_tenant(self, tenant: Tenant) -> None:
        """Keep a new tenant.

        Raises:
            TenantActError: its name is none, or is taken; or a class has no name.
            InvalidRequestError: two limits are of one kind and window.
        """
        check_name("tenant", tenant.name)
        if tenant.name in RESERVED:
            raise TenantActError("tenant", tenant.name, "another name", "The books use it for what nobody pays.")
        _check_names("class", tenant.classes or ())
        with self._writing() as connection:
            if connection.execute(select(TENANTS.c.name).where(TENANTS.c.name == tenant.name)).first() is not None:
                raise TenantActError(
                    "tenant", tenant.name, "a name that is not taken", "Change it with: unmask tenants limit or allow."
                )
            connection.execute(insert(TENANTS), tenant_row(tenant))
            _set_quotas(connection, QuotaScope.TENANT, tenant.name, tenant.quotas)

    def limit_tenant(self, name: str, quotas: Sequence[Quota]) -> None:
        """Give a tenant other limits, in place of all that it has."""
        with self._writing() as connection:
            _touch_tenant(connection, name, {"name": name})
            _set_quotas(connection, QuotaScope.TENANT, name, quotas)

    def allow_tenant(self, name: str, classes: Sequence[str] | None) -> None:
        """Let a tenant's keys use these service classes, or with ``None`` all of them."""
        _check_names("class", classes or ())
        with self._writing() as connection:
            _touch_tenant(connection, name, {"classes": joined(classes)})

    def disable_tenant(self, name: str, disabled: float | None) -> None:
        """Put all keys of a tenant out of force from now on; ``None`` puts them back."""
        with self._writing() as connection:
            _touch_tenant(connection, name, {"disabled_us": micros(disabled)})

    # --- keys ---

    def keys(self, tenant: str | None = None) -> tuple[Key, ...]:
        """Return all keys, or those of a tenant, in the order that they were made in."""
        asked = select(KEYS).order_by(KEYS.c.created_us, KEYS.c.public_id)
        with self._reading() as connection:
            rows = (
                connection.execute(asked if tenant is None else asked.where(KEYS.c.tenant == tenant)).mappings().all()
            )
            quotas = connection.execute(select(QUOTAS).where(QUOTAS.c.scope == QuotaScope.KEY)).mappings().all()
        return tuple(key_of(row, quotas) for row in rows)

    def key(self, public_id: str) -> Key:
        """Return a key by its id, or raise a `TenantActError`."""
        found = self.find(public_id)
        if found is None:
            raise no_key(public_id)
        return found.key

    def create_key(self, key: Key, token: Token, pepper: Pepper) -> None:
        """Keep a new key; of its secret only a keyed hash.

        Raises:
            TenantActError: there is no such tenant, or a name is none.
            InvalidRequestError: two limits are of one kind and window.
        """
        _check_key(key)
        secret = {"digest": pepper.digest(token), "pepper": pepper.fingerprint}
        with self._writing() as connection:
            if connection.execute(select(TENANTS.c.name).where(TENANTS.c.name == key.tenant)).first() is None:
                raise no_tenant(key.tenant)
            connection.execute(insert(KEYS), key_row(key) | secret)
            _set_quotas(connection, QuotaScope.KEY, key.public_id, key.quotas)

    def disable_key(self, public_id: str, disabled: float) -> None:
        """Put a key out of force for good; one that is already stays as it is."""
        with self._writing() as connection:
            _touch_key(connection, public_id, {"public_id": public_id})
            unset = and_(KEYS.c.public_id == public_id, KEYS.c.disabled_us.is_(None))
            connection.execute(update(KEYS).where(unset).values(disabled_us=micros(disabled)))

    def expire_key(self, public_id: str, expires: float | None) -> None:
        """Set when a key goes out of force; ``None`` for never."""
        with self._writing() as connection:
            _touch_key(connection, public_id, {"expires_us": micros(expires)})

    def limit_key(self, public_id: str, quotas: Sequence[Quota]) -> None:
        """Give a key other limits, in place of all that it has."""
        with self._writing() as connection:
            _touch_key(connection, public_id, {"public_id": public_id})
            _set_quotas(connection, QuotaScope.KEY, public_id, quotas)

    # --- inside ---

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with translated(), reading(self._engine) as connection:
            yield connection

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with translated(), writing(self._engine, LOCK) as connection:
            yield connection


def check_name(param: str, name: str) -> None:
    """Raise a `TenantActError` for what is no name of a tenant, class or task type."""
    if NAME.fullmatch(name) is None:
        fix = "Begin it with a letter or digit." if name.isascii() else NOT_ASCII
        raise TenantActError(param, name, ALLOWED_NAME, fix)


def _check_names(param: str, names: Iterable[str]) -> None:
    for name in names:
        check_name(param, name)


def _check_key(key: Key) -> None:
    if not (key.name.isprintable() and key.name.strip() == key.name and 1 <= len(key.name) <= LONGEST_NAME):
        raise TenantActError(
            "name", key.name, f"1 to {LONGEST_NAME} printable characters", "Say who or what holds the key."
        )
    if not key.roles:
        raise TenantActError("role", "none", "one or several roles", "Without a role a key opens nothing.")
    _check_names("class", key.classes or ())
    _check_names("task", () if key.default_task is None else (key.default_task,))


def _quotas(connection: Connection, *, tenants: Sequence[str], keys: Sequence[str]) -> Sequence[RowMapping]:
    of_tenants = and_(QUOTAS.c.scope == QuotaScope.TENANT, QUOTAS.c.owner.in_(tenants))
    of_keys = and_(QUOTAS.c.scope == QuotaScope.KEY, QUOTAS.c.owner.in_(keys))
    return connection.execute(select(QUOTAS).where(or_(of_tenants, of_keys))).mappings().all()


def _set_quotas(connection: Connection, scope: QuotaScope, owner: str, quotas: Iterable[Quota]) -> None:
    rows = quota_rows(scope, owner, distinct(quotas))
    connection.execute(delete(QUOTAS).where(QUOTAS.c.scope == scope, QUOTAS.c.owner == owner))
    if rows:
        connection.execute(insert(QUOTAS), rows)


def _touch_tenant(connection: Connection, name: str, changes: Row) -> None:
    if not _changed(connection, TENANTS, "name", name, changes):
        raise no_tenant(name)


def _touch_key(connection: Connection, public_id: str, changes: Row) -> None:
    if not _changed(connection, KEYS, "public_id", public_id, changes):
        raise no_key(public_id)


def _changed(connection: Connection, table: Table, column: str, value: str, changes: Row) -> bool:
    return connection.execute(update(table).where(table.c[column] == value).values(**changes)).rowcount == 1
