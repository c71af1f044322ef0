"""The ledger in memory keeps the same rules as the one in a database, as far as tests go by them."""

from typing import TYPE_CHECKING

import pytest

from unmask.ledger.errors import (
    AlreadySettledError,
    LedgerUnavailableError,
    LimitExceededError,
    UnknownReservationError,
)
from unmask.ledger.limit import Limit, LimitKind
from unmask.ledger.owner import Owner
from unmask.ledger.rejection import Rejection
from unmask.testing.ledgers import MemoryLedger, make_reservation, make_settlement

if TYPE_CHECKING:
    from unmask.ledger.ledger import Ledger

STEPS = Limit(scope="tenant:acme", kind=LimitKind.STEPS, window_s=60, amount=150)
AT_ONCE = Limit(scope="tenant:acme", kind=LimitKind.CONCURRENCY, amount=1)


async def test_it_is_a_ledger() -> None:
    """Bookings are kept for tests to read."""
    kept = MemoryLedger()
    ledger: Ledger = kept
    reserved = await ledger.reserve(make_reservation())
    await ledger.settle(make_settlement(reserved.id))
    await ledger.reject(Rejection(owner=Owner(), reason="queue_full"))
    await ledger.close()

    assert list(kept.reservations) == list(kept.settlements) == [reserved.id]
    assert [rejection.reason for rejection in kept.rejections] == ["queue_full"]
    assert kept.is_closed


@pytest.mark.parametrize("limit", [STEPS, AT_ONCE], ids=lambda limit: limit.kind)
async def test_limits_hold_until_settled(limit: Limit) -> None:
    """What is not used is given back."""
    ledger = MemoryLedger()
    first = await ledger.reserve(make_reservation(), (limit,))
    with pytest.raises(LimitExceededError):
        await ledger.reserve(make_reservation(), (limit,))
    await ledger.settle(make_settlement(first.id))
    await ledger.reserve(make_reservation(), (limit,))

    assert len(ledger.refusals) == 1


async def test_a_request_ends_once() -> None:
    """And only one that there is."""
    ledger = MemoryLedger()
    reserved = await ledger.reserve(make_reservation())
    await ledger.settle(make_settlement(reserved.id))
    with pytest.raises(AlreadySettledError):
        await ledger.settle(make_settlement(reserved.id))
    with pytest.raises(UnknownReservationError):
        await ledger.settle(make_settlement("none"))


async def test_it_fails_when_told_to() -> None:
    """As a database that is gone."""

    def gone(call: str) -> None:
        if call == "settle":
            raise LedgerUnavailableError("gone")

    ledger = MemoryLedger(gone)
    reserved = await ledger.reserve(make_reservation())
    with pytest.raises(LedgerUnavailableError):
        await ledger.settle(make_settlement(reserved.id))
    assert ledger.settlements == {}
