"""Who makes a request, once the key has been found to be in force."""

from collections.abc import Iterable
from dataclasses import dataclass

from unmask.tenants.errors import RoleError
from unmask.tenants.key import Key
from unmask.tenants.quota import Quota
from unmask.tenants.role import KeyRole
from unmask.tenants.tenant import Tenant


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """What is known of whoever makes a request.

    Attributes:
        tenant: name of the tenant; prefix caches and books go by it.
        key: the key's public id.
        name: who or what holds the key.
        classes: service classes that it may use, in the order that they were allowed in; ``None`` for all.
        default_task: task type of requests that name none.
        tenant_quotas: limits on all keys of the tenant together; ``key_quotas`` on this key.
    """

    tenant: str
    key: str
    name: str
    roles: frozenset[KeyRole]
    classes: tuple[str, ...] | None = None
    default_task: str | None = None
    tenant_quotas: tuple[Quota, ...] = ()
    key_quotas: tuple[Quota, ...] = ()

    def require(self, roles: Iterable[KeyRole]) -> None:
        """Raise a `RoleError` unless the key has one of several roles."""
        needed = tuple(roles)
        if self.roles.isdisjoint(needed):
            raise RoleError(needed, (role for role in KeyRole if role in self.roles))


def principal_of(key: Key, tenant: Tenant) -> Principal:
    """Return who holds a key: what both the key and its tenant allow."""
    return Principal(
        tenant=tenant.name,
        key=key.public_id,
        name=key.name,
        roles=frozenset(key.roles),
        classes=_both(key.classes, tenant.classes),
        default_task=key.default_task,
        tenant_quotas=tenant.quotas,
        key_quotas=key.quotas,
    )


def _both(first: tuple[str, ...] | None, second: tuple[str, ...] | None) -> tuple[str, ...] | None:
    if first is None or second is None:
        return second if first is None else first
    return tuple(name for name in first if name in second)
