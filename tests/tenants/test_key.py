"""Behaviour of `unmask.tenants.key` and `unmask.tenants.principal`."""

import pytest

from unmask.tenants.errors import RoleError
from unmask.tenants.key import KeyState
from unmask.tenants.principal import principal_of
from unmask.tenants.quota import parse_quota
from unmask.tenants.role import KeyRole
from unmask.testing.tenants import NOW, make_key, make_principal, make_tenant


def test_a_key_is_in_force_until_it_ends() -> None:
    """At the very moment it expires it is over; disabled counts for more than expired."""
    assert make_key().state(NOW) is KeyState.ACTIVE
    assert make_key(expires=NOW + 1).state(NOW) is KeyState.ACTIVE
    assert make_key(expires=NOW).state(NOW) is KeyState.EXPIRED
    assert make_key(expires=NOW, disabled=NOW).state(NOW) is KeyState.DISABLED


@pytest.mark.parametrize(
    ("of_key", "of_tenant", "both"),
    [
        (None, None, None),
        (("b",), None, ("b",)),
        (None, ("a", "b"), ("a", "b")),
        (("b", "a", "c"), ("a", "b"), ("b", "a")),
        (("c",), ("a",), ()),
    ],
)
def test_a_key_has_what_its_tenant_has_too(
    of_key: tuple[str, ...] | None, of_tenant: tuple[str, ...] | None, both: tuple[str, ...] | None
) -> None:
    """A tenant that loses a class takes it from all of its keys; the key's order stays."""
    assert principal_of(make_key(classes=of_key), make_tenant(classes=of_tenant)).classes == both


def test_a_principal_has_both_kinds_of_limits() -> None:
    """Those of the tenant are for all of its keys together."""
    of_key, of_tenant = parse_quota("requests=1/1m"), parse_quota("requests=9/1m")
    key = make_key(quotas=(of_key,), default_task="sort")
    principal = principal_of(key, make_tenant(quotas=(of_tenant,)))

    assert (principal.tenant_quotas, principal.key_quotas) == ((of_tenant,), (of_key,))
    assert (principal.tenant, principal.key, principal.name) == ("acme", key.public_id, "ann")
    assert principal.default_task == "sort"


def test_a_role_is_asked_for_by_name() -> None:
    """Any one of several is enough; the message says which the key has and which it lacks."""
    principal = make_principal(KeyRole.INFERENCE, KeyRole.TENANT_ADMIN)
    principal.require((KeyRole.OPERATOR, KeyRole.INFERENCE))

    with pytest.raises(RoleError, match="roles are inference, tenant-admin, allowed: operator or approver"):
        principal.require((KeyRole.OPERATOR, KeyRole.APPROVER))
