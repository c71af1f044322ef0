"""Behaviour of `unmask.control.refusals`."""

from collections import Counter

from unmask.control.caller import Caller
from unmask.control.refusals import A_SECOND, Refusals
from unmask.database.errors import DatabaseUnavailableError
from unmask.ledger.owner import Owner
from unmask.metrics.refusals import RefusalEnd
from unmask.testing.ledgers import MemoryLedger
from unmask.testing.manual_clock import ManualClock

ACME = Caller(owner=Owner(tenant="acme", key="k1"))
OTHER = Caller(owner=Owner(tenant="other", key="k2"))


async def test_a_flood_of_refusals_has_a_row_for_the_first_of_each_second() -> None:
    """The others are counted, another key's are not among them, and the next second begins anew."""
    ledger, clock, told = MemoryLedger(), ManualClock(), Counter[RefusalEnd]()
    refusals = Refusals(ledger, clock, lambda end: told.update([end]))
    for _ in range(A_SECOND + 5):
        await refusals.book(ACME, "no_such_model")
    await refusals.book(OTHER, "no_such_model")
    assert told == {RefusalEnd.BOOKED: A_SECOND + 1, RefusalEnd.FLOOD: 5}

    clock.advance(1)
    await refusals.book(ACME, "no_such_model")
    assert told[RefusalEnd.BOOKED] == len(ledger.rejections) == A_SECOND + 2


async def test_a_refusal_that_cannot_be_booked_is_counted_and_goes_out_nevertheless() -> None:
    """Nothing is owed for it, so it waits for no database."""

    def gone(_: str) -> None:
        raise DatabaseUnavailableError("gone", retry_after_s=1)

    told: list[RefusalEnd] = []
    await Refusals(MemoryLedger(gone), ManualClock(), told.append).book(ACME, "no_such_model")
    assert told == [RefusalEnd.FAILED]


async def test_without_a_ledger_nothing_is_counted() -> None:
    """There is no row that could be missing."""
    told: list[RefusalEnd] = []
    await Refusals(None, ManualClock(), told.append).book(ACME, "no_such_model")
    assert told == []
