"""Behaviour of `unmask.tenants.quota`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.errors import InvalidRequestError
from unmask.ledger.limit import LimitKind
from unmask.tenants.quota import LARGEST, LONGEST_WINDOW_S, Quota, QuotaKind, distinct, parse_quota

WINDOWED = [kind for kind in QuotaKind if kind is not QuotaKind.CONCURRENCY]
QUOTAS = st.builds(
    Quota,
    kind=st.sampled_from(WINDOWED),
    window_s=st.integers(1, LONGEST_WINDOW_S),
    amount=st.integers(0, LARGEST),
) | st.builds(Quota, kind=st.just(QuotaKind.CONCURRENCY), window_s=st.just(0), amount=st.integers(0, LARGEST))


@given(QUOTAS)
def test_limits_read_back(quota: Quota) -> None:
    """What is shown can be typed in again."""
    assert parse_quota(quota.text) == quota


@pytest.mark.parametrize(
    ("text", "quota"),
    [
        ("requests=100/1m", Quota(kind=QuotaKind.REQUESTS, window_s=60, amount=100)),
        ("requests=5/s", Quota(kind=QuotaKind.REQUESTS, window_s=1, amount=5)),
        ("steps=50000/1h", Quota(kind=QuotaKind.STEPS, window_s=3_600, amount=50_000)),
        ("cost=2.50/1d", Quota(kind=QuotaKind.COST, window_s=86_400, amount=2_500_000)),
        ("cost=0.000001/2w", Quota(kind=QuotaKind.COST, window_s=1_209_600, amount=1)),
        ("concurrency=0", Quota(kind=QuotaKind.CONCURRENCY, window_s=0, amount=0)),
    ],
)
def test_limits_are_read(text: str, quota: Quota) -> None:
    """Money is in whole micro-units, so nothing is lost to rounding."""
    assert parse_quota(text) == quota


@pytest.mark.parametrize(
    "text",
    [
        "",
        "requests",
        "requests=100",
        "requests=/1m",
        "requests=1.5/1m",
        "requests=-1/1m",
        "requests=nan/1m",
        "requests=inf/1m",
        "requests=1e999999999/1m",
        "requests=9223372036854775808/1m",
        "requests=1/0m",
        "requests=1/",
        "requests=1/1y",
        "requests=1/1m/1m",
        "requests=1/٣m",
        "requests=1/400d",
        f"requests=1/{'9' * 5_000}s",
        "cost=0.0000001/1d",
        "concurrency=8/1m",
        "tokens=1/1m",
    ],
)
def test_what_is_no_limit_is_refused(text: str) -> None:
    """The message names the field, what is allowed, and examples."""
    with pytest.raises(InvalidRequestError, match=r"concurrency=8\.") as caught:
        parse_quota(text)

    assert caught.value.param == "limit"


def test_two_limits_of_a_kind_need_different_windows() -> None:
    """A minute and a day may stand side by side; of two for the same minute it is unclear which one holds."""
    minute, day, other = (parse_quota(text) for text in ("requests=10/1m", "requests=100/1d", "requests=20/60s"))

    assert distinct([minute, day]) == (minute, day)
    with pytest.raises(InvalidRequestError, match="one of each kind and window"):
        distinct([minute, day, other])
    with pytest.raises(InvalidRequestError):
        distinct([minute, minute, other])


def test_kinds_are_those_that_the_ledger_counts() -> None:
    """Every limit that can be set is one that is kept."""
    assert [kind.value for kind in QuotaKind] == [kind.value for kind in LimitKind]
