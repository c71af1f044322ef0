"""From who makes a request to whom it is booked, and within which limits."""

from collections.abc import Iterable, Sequence

from unmask.ledger.limit import Limit, LimitKind, Standing
from unmask.ledger.owner import Owner
from unmask.tenants.principal import Principal
from unmask.tenants.quota import Quota, QuotaScope


def owner_of(principal: Principal | None, *, user: str = "", tags: tuple[str, ...] = ()) -> Owner:
    """Return whom a request is booked to.

    Args:
        principal: who makes it; ``None`` where the server asks for no keys.
        user: the end user that the request names.
        tags: names that it is to be found by.
    """
    if principal is None:
        return Owner(user=user, tags=tags)
    return Owner(tenant=principal.tenant, key=principal.key, user=user, tags=tags)


def limits_of(principal: Principal | None) -> tuple[Limit, ...]:
    """Return the limits that a request is reserved within: those of its tenant, then those of its key."""
    if principal is None:
        return ()
    of_tenant = _limits(f"{QuotaScope.TENANT}:{principal.tenant}", principal.tenant_quotas)
    of_key = _limits(f"{QuotaScope.KEY}:{principal.key}", principal.key_quotas)
    return (*of_tenant, *of_key)


def tightest(standings: Sequence[Standing]) -> tuple[Standing, ...]:
    """Return of each kind the limit that has the smallest share left, which is the one a client meets first."""
    kinds = (kind for kind in LimitKind if any(standing.limit.kind is kind for standing in standings))
    return tuple(
        min((standing for standing in standings if standing.limit.kind is kind), key=_share_left) for kind in kinds
    )


def _share_left(standing: Standing) -> tuple[float, int]:
    amount = standing.limit.amount
    return (standing.remaining / amount if amount else 0.0, standing.remaining)


def _limits(scope: str, quotas: Iterable[Quota]) -> tuple[Limit, ...]:
    return tuple(
        Limit(scope=scope, kind=LimitKind(quota.kind.value), window_s=quota.window_s, amount=quota.amount)
        for quota in quotas
    )
