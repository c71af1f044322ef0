"""Whom keys belong to."""

from dataclasses import dataclass

from unmask.tenants.quota import Quota


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant:
    """Whoever pays, shares a prefix cache with nobody, and is kept within limits.

    Attributes:
        classes: service classes that its keys may use; ``None`` for all.
        quotas: limits on the use of all its keys together.
        created: seconds since 1970, as all times here.
        disabled: since when none of its keys is in force.
    """

    name: str
    classes: tuple[str, ...] | None = None
    quotas: tuple[Quota, ...] = ()
    created: float
    disabled: float | None = None
