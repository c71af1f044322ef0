"""The books of one call: reserved before anything is submitted, settled before its last byte."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

from unmask.backend import Generation, Request
from unmask.clock import Clock
from unmask.control.admitted import Admitted
from unmask.control.answered import Answered
from unmask.control.attempt import Attempt, AttemptReason
from unmask.control.bookings import attempts_of, reservation_of
from unmask.control.caller import Caller
from unmask.control.refusals import Refusals
from unmask.errors import UnmaskError
from unmask.ledger.ledger import Ledger
from unmask.ledger.limit import Standing
from unmask.ledger.reservation import Reserved  # noqa: TC001 - what the ledger returns, beside its other values
from unmask.ledger.settlement import Settled, Settlement
from unmask.types import Outcome, Verification

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenOff:
    """How a call ended that has no answer.

    Attributes:
        reason: in a word, as in the error's code.
        billed: whether its owner pays for what it took; the platform does otherwise.
        is_refusal: whether it was turned away, if it took nothing.
        cap_applied: whether a cap of its class failed it.
    """

    outcome: Outcome
    reason: str
    billed: bool = False
    is_refusal: bool = False
    cap_applied: bool = False


class Account:
    """What one call reserves, takes and is settled at; without a ledger all of it is nothing.

    A call is one request of the ledger, whatever its choices: it is answered as a whole or not at all.

    Args:
        ledger: where it is booked.
        refusals: where it is booked if nothing is reserved for it.
        caller: to whom.
        admitted: its choices.
        clock: the server's, which ``caller.arrived`` is on.
    """

    def __init__(
        self, ledger: Ledger | None, refusals: Refusals, caller: Caller, admitted: Sequence[Admitted], clock: Clock
    ) -> None:
        self._ledger = ledger
        self._refusals = refusals
        self._caller = caller
        self._admitted = tuple(admitted)
        self._clock = clock
        self._reserved: Reserved | None = None
        self._settled: Settled | None = None
        self._is_closed = False
        self._first_s: float | None = None
        self._ran: tuple[list[Attempt], ...] = tuple([] for _ in admitted)
        self._decided: dict[int, Answered] = {}

    @property
    def is_booked(self) -> bool:
        """Whether there is a ledger."""
        return self._ledger is not None

    @property
    def arrived(self) -> float:
        """When the call did, on the server's clock."""
        return self._caller.arrived

    @property
    def standings(self) -> tuple[Standing, ...]:
        """How the caller's limits stand, once it is reserved."""
        return () if self._reserved is None else self._reserved.standings

    @property
    def settled(self) -> Settled | None:
        """What it cost, once that is settled."""
        return self._settled

    async def open(self) -> None:
        """Reserve the worst case; it is durable on return.

        Raises:
            LimitExceededError: a limit of the caller has no room.
            DuplicateRequestError, IdempotencyMismatchError: the caller has used its idempotency key before.
            LedgerUnavailableError: it cannot be booked, so nothing may run.
        """
        if self._ledger is not None:
            reservation = reservation_of(self._admitted, self._caller)
            self._reserved = await self._ledger.reserve(reservation, self._caller.limits)

    async def refuse(self, reason: str) -> None:
        """Book that the call is turned away before anything is reserved for it."""
        given, model = self._admitted[0].assignment, self._admitted[0].asked_model
        service_class = "" if given.service_class is None else given.service_class.name
        await self._refusals.book(self._caller, reason, service_class=service_class, task=given.task, model=model)

    def watched(self, index: int, request: Request, reason: AttemptReason) -> Request:
        """Return a generation's request, of which it is known here what it took if its caller goes away."""
        if self._ledger is None:
            return request

        def left(generation: Generation) -> None:
            self.ran(index, request, reason, generation)
            if request.left is not None:
                request.left(generation)

        return replace(request, left=left)

    def ran(self, index: int, request: Request, reason: AttemptReason, generation: Generation) -> None:
        """Take note of a generation for a choice that has ended."""
        self._ran[index].append(
            Attempt(reason=reason, generation=generation, budget=request.budget, model=request.model)
        )

    def told(self) -> None:
        """Take note that the first of the answer goes out."""
        if self._first_s is None:
            self._first_s = self._elapsed_s()

    def decided(self, index: int, answered: Answered) -> None:
        """Take note of the answer to a choice: what its attempts were for, and what verifiers say of them."""
        self._decided[index] = answered

    async def complete(self) -> None:
        """Settle a call all of whose choices are decided; it is durable on return.

        Raises:
            LedgerUnavailableError, ReservationLostError: it is not settled, so its end must not go out.
        """
        decided = self._decided.values()
        await self._settle(
            BrokenOff(
                outcome=Outcome.COMPLETED,
                reason=str(self._decided[0].generation.finish_reason or ""),
                billed=True,
                cap_applied=any(one.cap is not None for one in decided),
            ),
            accepted=all(one.verdict.verification is not Verification.FAIL for one in decided),
        )

    async def break_off(self, end: BrokenOff) -> None:
        """Settle a call without an answer at what it took; one that is settled, or about to be, stays as it is.

        Raises:
            UnmaskError: it is not settled; where it is billed, what it cost must not be told.
        """
        if self._is_closed or self._reserved is None:
            return
        try:
            await self._settle(end)
        except UnmaskError as error:
            if end.cap_applied:
                raise
            _LOG.warning("request %s ended as %s and could not be settled: %s", self._reserved.id, end.reason, error)

    async def _settle(self, end: BrokenOff, *, accepted: bool = False) -> None:
        if self._ledger is None or self._reserved is None:
            return
        attempts = tuple(
            attempt
            for index, admitted in enumerate(self._admitted)
            for attempt in attempts_of(admitted, self._made(index))
        )
        total_s = self._elapsed_s()
        first_s = total_s if self._first_s is None and end.outcome is Outcome.COMPLETED else self._first_s
        settlement = Settlement(
            id=self._reserved.id,
            outcome=end.outcome,
            reason=end.reason,
            attempts=attempts,
            accepted=accepted,
            billed=end.billed,
            cap_applied=end.cap_applied,
            is_refused=end.is_refusal and not attempts,
            first_byte_s=first_s,
            total_s=total_s,
        )
        # Before it is under way: from here on it is booked whether or not anybody waits, and once.
        self._is_closed = True
        self._settled = await self._ledger.settle(settlement)

    def _made(self, index: int) -> Sequence[Attempt]:
        decided = self._decided.get(index)
        return self._ran[index] if decided is None else decided.attempts

    def _elapsed_s(self) -> float:
        return max(0.0, self._clock.now() - self._caller.arrived)
