"""Between values and the rows that they are kept in."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import RowMapping

from unmask.tenants.key import Key
from unmask.tenants.quota import Quota, QuotaKind, QuotaScope
from unmask.tenants.role import KeyRole
from unmask.tenants.tenant import Tenant

SEPARATOR = ","
MICROS = 1_000_000
Row = dict[str, Any]


def tenant_row(tenant: Tenant) -> Row:
    """Return the row of a tenant, its limits left out."""
    return {
        "name": tenant.name,
        "classes": joined(tenant.classes),
        "created_us": micros(tenant.created),
        "disabled_us": micros(tenant.disabled),
    }


def key_row(key: Key) -> Row:
    """Return the row of a key, its limits and its digest left out."""
    return {
        "public_id": key.public_id,
        "tenant": key.tenant,
        "name": key.name,
        "roles": joined(key.roles),
        "classes": joined(key.classes),
        "default_task": key.default_task,
        "created_us": micros(key.created),
        "expires_us": micros(key.expires),
        "disabled_us": micros(key.disabled),
    }


def quota_rows(scope: QuotaScope, owner: str, quotas: Iterable[Quota]) -> list[Row]:
    """Return the rows of somebody's limits."""
    return [
        {"scope": scope, "owner": owner, "kind": quota.kind, "window_s": quota.window_s, "amount": quota.amount}
        for quota in quotas
    ]


def tenant_of(row: RowMapping, quotas: Iterable[RowMapping]) -> Tenant:
    """Return the tenant of a row, with its limits from among those of others."""
    return Tenant(
        name=row["name"],
        classes=split(row["classes"]),
        quotas=_quotas_of(QuotaScope.TENANT, row["name"], quotas),
        created=row["created_us"] / MICROS,
        disabled=_seconds(row["disabled_us"]),
    )


def key_of(row: RowMapping, quotas: Iterable[RowMapping]) -> Key:
    """Return the key of a row, with its limits from among those of others."""
    return Key(
        public_id=row["public_id"],
        tenant=row["tenant"],
        name=row["name"],
        roles=tuple(KeyRole(role) for role in split(row["roles"]) or ()),
        classes=split(row["classes"]),
        default_task=row["default_task"],
        quotas=_quotas_of(QuotaScope.KEY, row["public_id"], quotas),
        created=row["created_us"] / MICROS,
        expires=_seconds(row["expires_us"]),
        disabled=_seconds(row["disabled_us"]),
    )


def micros(seconds: float | None) -> int | None:
    """Write a time as rows have it."""
    return None if seconds is None else round(seconds * MICROS)


def joined(names: Iterable[str] | None) -> str | None:
    """Write names into one text; they hold no commas."""
    return None if names is None else SEPARATOR.join(names)


def split(text: str | None) -> tuple[str, ...] | None:
    """Read names that `joined` wrote."""
    return None if text is None else tuple(text.split(SEPARATOR)) if text else ()


def _seconds(micros: int | None) -> float | None:
    return None if micros is None else micros / MICROS


def _quotas_of(scope: QuotaScope, owner: str, rows: Iterable[RowMapping]) -> tuple[Quota, ...]:
    found = (
        Quota(kind=QuotaKind(row["kind"]), window_s=row["window_s"], amount=row["amount"])
        for row in rows
        if row["scope"] == scope and row["owner"] == owner
    )
    order = list(QuotaKind)
    return tuple(sorted(found, key=lambda quota: (order.index(quota.kind), quota.window_s)))
