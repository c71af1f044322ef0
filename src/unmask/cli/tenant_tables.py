"""What ``unmask keys`` and ``unmask tenants`` show: tables for people, records for machines."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from rich.table import Table
from rich.text import Text

from unmask.tenants.key import Key, KeyState
from unmask.tenants.quota import Quota
from unmask.tenants.tenant import Tenant

ALL = "all"
NONE = "none"


def key_record(key: Key, now: float) -> dict[str, object]:
    """Return a key, for machines."""
    return {
        "key": key.public_id,
        "tenant": key.tenant,
        "name": key.name,
        "roles": list(key.roles),
        "classes": None if key.classes is None else list(key.classes),
        "default_task": key.default_task,
        "limits": [quota.text for quota in key.quotas],
        "state": key.state(now),
        "created": iso(key.created),
        "expires": iso(key.expires),
        "disabled": iso(key.disabled),
    }


def tenant_record(tenant: Tenant, keys: Iterable[Key], now: float) -> dict[str, object]:
    """Return a tenant, for machines."""
    return {
        "tenant": tenant.name,
        "classes": None if tenant.classes is None else list(tenant.classes),
        "limits": [quota.text for quota in tenant.quotas],
        "keys": [key.public_id for key in keys],
        "active_keys": sum(key.state(now) is KeyState.ACTIVE for key in keys),
        "created": iso(tenant.created),
        "disabled": iso(tenant.disabled),
    }


def key_table(keys: Sequence[Key], now: float) -> Table:
    """Return a line a key."""
    table = _table("key", "tenant, name", "state", "roles", "classes, task", "limits", "expires")
    for key in keys:
        state = key.state(now)
        table.add_row(
            key.public_id,
            Text(f"{key.tenant}\n{key.name}"),
            Text(state, "" if state is KeyState.ACTIVE else "bold"),
            "\n".join(key.roles),
            _names(key.classes) if key.default_task is None else f"{_names(key.classes)}\n{key.default_task}",
            _limits(key.quotas),
            "never" if key.expires is None else _day(key.expires),
        )
    return table


def tenant_table(tenants: Sequence[Tenant], keys: Sequence[Key], now: float) -> Table:
    """Return a line a tenant."""
    active = Counter(key.tenant for key in keys if key.state(now) is KeyState.ACTIVE)
    table = _table("tenant", "state", "active keys", "classes", "limits", "since")
    for tenant in tenants:
        state = Text("active") if tenant.disabled is None else Text("disabled", "bold")
        table.add_row(
            Text(tenant.name),
            state,
            str(active[tenant.name]),
            _names(tenant.classes),
            _limits(tenant.quotas),
            _day(tenant.created),
        )
    return table


def iso(time: float | None) -> str | None:
    """Write a time for machines."""
    return None if time is None else datetime.fromtimestamp(time, UTC).isoformat(timespec="seconds")


def _names(names: tuple[str, ...] | None) -> str:
    return ALL if names is None else "\n".join(names) or NONE


def _limits(quotas: Sequence[Quota]) -> str:
    return "\n".join(quota.text for quota in quotas) or NONE


def _day(time: float) -> str:
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d")


def _table(*headings: str) -> Table:
    table = Table(caption="times are UTC", caption_justify="left")
    for heading in headings:
        table.add_column(heading, overflow="fold", no_wrap=heading == "key")
    return table
