"""What a tenant's own admin may see of it."""

from dataclasses import dataclass

from unmask.tenants.key import Key
from unmask.tenants.tenant import Tenant


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """A tenant with its limits, and its keys with theirs; no secret is in them, for none is kept.

    ``now`` is seconds since 1970, by which keys have expired or not.
    """

    tenant: Tenant
    keys: tuple[Key, ...]
    now: float
