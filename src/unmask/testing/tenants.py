"""Tenants, keys and whoever holds them, of which a test names only what it is about."""

from collections.abc import Mapping
from typing import Any

from unmask.tenants.errors import KeyRefusedError
from unmask.tenants.key import Key
from unmask.tenants.overview import Overview
from unmask.tenants.pepper import PEPPER_BYTES, Pepper
from unmask.tenants.principal import Principal
from unmask.tenants.quota import parse_quota
from unmask.tenants.role import KeyRole
from unmask.tenants.tenant import Tenant

NOW = 1_700_000_000.5
PEPPER = Pepper(secret=b"p" * PEPPER_BYTES)


def make_tenant(name: str = "acme", **changes: Any) -> Tenant:  # noqa: ANN401 - any field of the tenant
    """Return a tenant without limits."""
    fields: dict[str, Any] = {"created": NOW}
    return Tenant(name=name, **(fields | changes))


def make_key(public_id: str = "aaaaaaaaaaaa", **changes: Any) -> Key:  # noqa: ANN401 - any field of the key
    """Return a key of `make_tenant`'s that may have requests answered."""
    fields: dict[str, Any] = {"tenant": "acme", "name": "ann", "roles": (KeyRole.INFERENCE,), "created": NOW}
    return Key(public_id=public_id, **(fields | changes))


def make_principal(*roles: KeyRole, **changes: Any) -> Principal:  # noqa: ANN401 - any field of the principal
    """Return who holds a key with some roles, by default with inference."""
    fields: dict[str, Any] = {"tenant": "acme", "key": "aaaaaaaaaaaa", "name": "ann"}
    return Principal(roles=frozenset(roles or (KeyRole.INFERENCE,)), **(fields | changes))


class FakeAuthenticator:
    """Knows the tokens that it is told of."""

    def __init__(self, principals: Mapping[str, Principal]) -> None:
        self.principals = principals

    async def authenticate(self, text: str) -> Principal:
        """Return who holds a token."""
        if text not in self.principals:
            raise KeyRefusedError
        return self.principals[text]

    def knows(self, text: str) -> bool:
        """Tell whether a token is one of them."""
        return text in self.principals

    async def overview(self, tenant: str) -> Overview:
        """Return a tenant with a key of every role, and one that has ended."""
        keys = (
            make_key(tenant=tenant, roles=tuple(KeyRole), quotas=(parse_quota("concurrency=4"),), classes=("batch",)),
            make_key("bbbbbbbbbbbb", tenant=tenant, disabled=NOW),
        )
        return Overview(tenant=make_tenant(tenant, quotas=(parse_quota("requests=9/1m"),)), keys=keys, now=NOW)
