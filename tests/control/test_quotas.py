"""Behaviour of `unmask.control.quotas`."""

from unmask.control.quotas import limits_of, owner_of, tightest
from unmask.ledger.limit import Limit, LimitKind, Standing
from unmask.ledger.owner import Owner
from unmask.tenants.quota import parse_quota
from unmask.testing.tenants import make_principal


def standing(kind: LimitKind, amount: int, used: int, window_s: int = 60) -> Standing:
    """Return how a limit stands."""
    window_s = 0 if kind is LimitKind.CONCURRENCY else window_s
    return Standing(limit=Limit(scope="s", kind=kind, window_s=window_s, amount=amount), used=used, reset_s=1.0)


def test_a_request_is_booked_to_its_key_and_tenant() -> None:
    """Without keys to nobody in particular."""
    assert owner_of(make_principal(), user="u", tags=("t",)) == Owner(
        tenant="acme", key="aaaaaaaaaaaa", user="u", tags=("t",)
    )
    assert owner_of(None, user="u") == Owner(user="u")


def test_limits_of_both_are_kept() -> None:
    """Each under a scope of its own: a tenant may be called as a key is."""
    principal = make_principal(
        tenant="aaaaaaaaaaaa",
        tenant_quotas=(parse_quota("requests=9/1m"), parse_quota("concurrency=3")),
        key_quotas=(parse_quota("cost=2.5/1d"),),
    )

    assert limits_of(principal) == (
        Limit(scope="tenant:aaaaaaaaaaaa", kind=LimitKind.REQUESTS, window_s=60, amount=9),
        Limit(scope="tenant:aaaaaaaaaaaa", kind=LimitKind.CONCURRENCY, amount=3),
        Limit(scope="key:aaaaaaaaaaaa", kind=LimitKind.COST, window_s=86_400, amount=2_500_000),
    )
    assert limits_of(None) == ()


def test_the_tightest_of_a_kind_is_told() -> None:
    """By the share that is left; a limit of nothing is the tightest there is."""
    loose, tight = standing(LimitKind.REQUESTS, 100, 50), standing(LimitKind.REQUESTS, 1_000, 900, 3_600)
    steps, shut = standing(LimitKind.STEPS, 10, 10), standing(LimitKind.STEPS, 0, 0, 3_600)

    assert tightest((loose, steps, tight)) == (tight, steps)
    assert tightest((standing(LimitKind.STEPS, 10, 1), shut)) == (shut,)
    assert tightest(()) == ()
