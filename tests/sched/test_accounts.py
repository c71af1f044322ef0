"""Counters of what classes and tenants have had."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.sched.accounts import SPARE_TENANTS, Accounts
from unmask.sequence import Sequence
from unmask.service import ClassTerms
from unmask.testing.sequences import make_sequence
from unmask.testing.submissions import make_submission

HEAVY, LIGHT = ClassTerms(name="heavy", weight=4.0), ClassTerms(name="light", weight=1.0)


def arrived(accounts: Accounts, terms: ClassTerms = LIGHT, tenant: str = "") -> Sequence:
    """Let a request arrive."""
    sequence = make_sequence(make_submission(terms=terms, tenant=tenant))
    accounts.arrive(sequence)
    return sequence


def begun(accounts: Accounts, terms: ClassTerms = LIGHT, tenant: str = "") -> Sequence:
    """Let a request arrive and run."""
    sequence = arrived(accounts, terms, tenant)
    sequence.started = 0.0
    accounts.begin(sequence)
    return sequence


def test_a_class_is_charged_over_its_weight() -> None:
    """Four times the weight, a quarter of the charge, so that it goes first until it has had four times as much."""
    accounts = Accounts()
    heavy, light = begun(accounts, HEAVY), begun(accounts, LIGHT)
    accounts.charge(heavy, 40)
    accounts.charge(light, 20)

    assert [(one.terms.name, one.used) for one in accounts.present()] == [("heavy", 10.0), ("light", 20.0)]


def test_who_comes_back_has_saved_nothing_up() -> None:
    """A class and a tenant that had no work are lifted to the least of those that have."""
    accounts = Accounts()
    busy = begun(accounts, LIGHT, "busy")
    accounts.charge(busy, 500)
    late = arrived(accounts, LIGHT, "late")
    other = arrived(accounts, HEAVY)

    assert accounts.tenant_of(late).used == 500
    assert accounts.of(other).used == 500


def test_who_has_had_much_is_not_lowered() -> None:
    """Leaving and coming back erases no debt while the class has other work."""
    accounts = Accounts()
    keeping = arrived(accounts, LIGHT, "keeping")
    greedy = begun(accounts, LIGHT, "greedy")
    accounts.charge(greedy, 500)
    accounts.leave(greedy, pages=0)
    again = arrived(accounts, LIGHT, "greedy")

    assert accounts.tenant_of(again).used == 500
    assert accounts.tenant_of(keeping).used == 0


def test_a_minimum_share_is_owed_by_what_ticks_take() -> None:
    """It grows with others' tokens, is paid with its own, and is never more than a tick or its largest row."""
    accounts = Accounts()
    small = begun(accounts, ClassTerms(name="batch", min_share=0.25))
    account = accounts.of(small)
    accounts.accrue(100)
    owed = account.credit
    accounts.charge(small, 10)
    paid = account.credit
    for _ in range(100):
        accounts.accrue(100)

    assert (owed, paid, account.credit) == (25.0, 15.0, 100.0)


def test_nothing_is_owed_to_a_class_without_work() -> None:
    """What it does not use was lent, not saved."""
    accounts = Accounts()
    terms = ClassTerms(name="batch", min_share=0.25)
    keeping, last = arrived(accounts, LIGHT), begun(accounts, terms)
    accounts.accrue(100)
    accounts.leave(last, pages=0)
    accounts.accrue(100)

    assert accounts.of(begun(accounts, terms)).credit == 0
    assert accounts.of(keeping).credit == 0


def test_shares_are_those_of_who_has_work() -> None:
    """By weight, never under the minimum, never over the most; alone a class has all that it may have."""
    accounts = Accounts()
    arrived(accounts, LIGHT)

    assert accounts.share_of(LIGHT) == 1.0
    assert accounts.share_of(HEAVY) == 0.8
    assert accounts.share_of(ClassTerms(name="x", weight=1.0, min_share=0.7)) == 0.7
    assert accounts.share_of(ClassTerms(name="x", weight=9.0, max_share=0.5)) == 0.5


def test_what_is_ahead_of_a_tenant() -> None:
    """Its own backlog, times those it takes turns with, or all of its class where that is less."""
    accounts = Accounts()
    most = make_submission().most_tokens
    for tenant in ("a", "a", "a", "b"):
        arrived(accounts, LIGHT, tenant)

    assert accounts.ahead_of(make_submission(terms=LIGHT, tenant="a")) == 4 * most
    assert accounts.ahead_of(make_submission(terms=LIGHT, tenant="b")) == 2 * most
    assert accounts.ahead_of(make_submission(terms=LIGHT, tenant="c")) == 0
    assert accounts.ahead_of(make_submission(terms=HEAVY, tenant="a")) == 0


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 60)), max_size=20))
def test_nothing_is_left_once_all_have_left(rows: list[tuple[str, int]]) -> None:
    """Whatever ran and however much of it, no class is left with work, promises or expectations."""
    accounts = Accounts()
    sequences = [begun(accounts, LIGHT, tenant) for tenant, _ in rows]
    for sequence, (_, tokens) in zip(sequences, rows, strict=True):
        accounts.charge(sequence, tokens)
    assert all(
        tenant.promised >= 0 and tenant.expected >= 0
        for account in accounts.present()
        for tenant in account.tenants.values()
    )
    for sequence in sequences:
        accounts.leave(sequence, pages=0)

    assert accounts.present() == []
    account = accounts.named("light")
    if account is not None:
        assert (account.running, account.present, account.expected, account.tenants) == (0, 0, 0.0, {})


def test_tenants_that_are_gone_are_forgotten() -> None:
    """Thousands of tenants of one request each leave no thousands of counters behind."""
    accounts = Accounts()
    keeping = begun(accounts, LIGHT, "keeping")
    for number in range(2_000):
        one = begun(accounts, LIGHT, str(number))
        accounts.charge(one, 10)
        accounts.charge(keeping, 10)
        accounts.leave(one, pages=0)

    assert len(accounts.of(keeping).tenants) <= SPARE_TENANTS + 3
    assert accounts.tenant_of(keeping).used == pytest.approx(20_000)
