"""Opens the books of calls."""

from collections.abc import Callable, Sequence

from unmask.clock import Clock, SystemClock
from unmask.control.account import Account
from unmask.control.admitted import Admitted
from unmask.control.caller import Caller
from unmask.control.refusals import Refusals
from unmask.ledger.ledger import Ledger
from unmask.metrics.refusals import RefusalEnd


class Accounts:
    """Makes an `Account` for each call; without a ledger nothing is booked and nothing is limited.

    ``refused`` is told what became of the row of each call that is turned away.
    """

    def __init__(
        self,
        ledger: Ledger | None = None,
        clock: Clock | None = None,
        refused: Callable[[RefusalEnd], None] = lambda _: None,
    ) -> None:
        self._ledger = ledger
        self._clock = clock or SystemClock()
        self._refusals = Refusals(ledger, self._clock, refused)

    @property
    def is_booked(self) -> bool:
        """Whether there is a ledger."""
        return self._ledger is not None

    def account(self, caller: Caller, admitted: Sequence[Admitted]) -> Account:
        """Return the books of a call."""
        return Account(self._ledger, self._refusals, caller, admitted, self._clock)

    async def refuse(self, caller: Caller, reason: str, *, model: str = "") -> None:
        """Book a call that is turned away before its choices are known."""
        await self._refusals.book(caller, reason, model=model)
