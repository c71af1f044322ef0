"""Books requests that are turned away before anything is reserved for them, and bounds a flood of them."""

import asyncio
import logging
from collections.abc import Callable

from unmask.clock import Clock
from unmask.control.caller import Caller
from unmask.errors import UnmaskError
from unmask.ledger.ledger import Ledger
from unmask.ledger.rejection import Rejection
from unmask.metrics.refusals import RefusalEnd

A_SECOND = 20
"""Refusals of one key, in one second, that have a row each."""
WAIT_S = 1.0
"""Longest that a refusal waits for its booking: nothing is owed for it."""

_LOG = logging.getLogger(__name__)


class Refusals:
    """Books refusals; of a flood the first in each second, and the number of the others goes to metrics and the log.

    Args:
        ledger: where; ``None`` books nothing.
        clock: tells seconds apart.
        count: told what became of each.
    """

    def __init__(self, ledger: Ledger | None, clock: Clock, count: Callable[[RefusalEnd], None]) -> None:
        self._ledger = ledger
        self._clock = clock
        self._count = count
        self._second = 0
        self._counts: dict[tuple[str, str], int] = {}

    async def book(
        self, caller: Caller, reason: str, *, service_class: str = "", task: str = "", model: str = ""
    ) -> None:
        """Book a refusal; it is durable on return, unless the database keeps it waiting or the caller floods."""
        if self._ledger is None:
            return
        if not self._has_room(caller):
            self._count(RefusalEnd.FLOOD)
            return
        rejection = Rejection(
            owner=caller.owner,
            reason=reason,
            service_class=service_class,
            task=task,
            model=model,
            request_id=caller.request_id,
        )
        try:
            async with asyncio.timeout(WAIT_S):
                await self._ledger.reject(rejection)
            self._count(RefusalEnd.BOOKED)
        except (UnmaskError, TimeoutError) as error:
            self._count(RefusalEnd.FAILED)
            _LOG.warning("a refusal (%s) is not known to be booked: %s", reason, error)

    def _has_room(self, caller: Caller) -> bool:
        second = int(self._clock.now())
        if second != self._second:
            self._tell_flood()
            self._second = second
        name = (caller.owner.tenant, caller.owner.key)
        self._counts[name] = self._counts.get(name, 0) + 1
        return self._counts[name] <= A_SECOND

    def _tell_flood(self) -> None:
        for (tenant, key), count in self._counts.items():
            if count > A_SECOND:
                _LOG.warning(
                    "%d refusals of tenant %r, key %r in one second have no row", count - A_SECOND, tenant, key
                )
        self._counts.clear()
