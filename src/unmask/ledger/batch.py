"""Books a batch of entries in one transaction: all of it is decided in memory, then written table by table."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import assert_never

from sqlalchemy import Connection, Table, bindparam, delete, insert, select, update

from unmask.database.prepared import Prepared
from unmask.errors import UnmaskError
from unmask.ledger.charges import NOTHING, SECOND_US, Used, counter_of
from unmask.ledger.counters import Counters
from unmask.ledger.entry import WITHDRAWN, Booking, Entry, Reject, Reserve, Result, Settle
from unmask.ledger.errors import (
    AlreadySettledError,
    DuplicateRequestError,
    IdempotencyMismatchError,
    LimitExceededError,
    ReservationLostError,
    UnknownReservationError,
)
from unmask.ledger.known import KnownName, KnownRequest, known_names, known_requests
from unmask.ledger.price import PriceBook, costs_of, most_of
from unmask.ledger.price_file import parse_document
from unmask.ledger.reservation import Reservation, Reserved
from unmask.ledger.rows import Row, Stamp, attempt_row, cost_in, rejected_row, request_row, settled_row, unrun_row
from unmask.ledger.settlement import Ending, Settled, Settlement
from unmask.ledger.tables import ATTEMPTS, ENDS, EVENTS, HEAD, NAMES, OPEN, PRICES, REQUESTS

NAME_S = 86_400
"""Seconds that an idempotency key stands for its request."""


@dataclass(slots=True)
class _Rows:
    """What is added, by table in an order that references allow."""

    requests: list[Row] = field(default_factory=list)
    open: list[Row] = field(default_factory=list)
    attempts: list[Row] = field(default_factory=list)
    ends: list[Row] = field(default_factory=list)
    events: list[Row] = field(default_factory=list)

    def by_table(self) -> tuple[tuple[Table, list[Row]], ...]:
        """Return the rows of each table."""
        return (
            (REQUESTS, self.requests),
            (OPEN, self.open),
            (ATTEMPTS, self.attempts),
            (ENDS, self.ends),
            (EVENTS, self.events),
        )


_INSERTS = {table: Prepared(insert(table)) for table in (REQUESTS, OPEN, ATTEMPTS, ENDS, EVENTS, NAMES)}
_TAKE_NUMBERS = Prepared(update(HEAD).values(number=HEAD.c.number + bindparam("_count")).returning(HEAD.c.number))
_CLOSE = Prepared(delete(OPEN).where(OPEN.c.request == bindparam("_request")))
_FREE = Prepared(delete(NAMES).where(NAMES.c.request == bindparam("_request")))
_UNNAME = Prepared(delete(NAMES).where(NAMES.c.tenant == bindparam("_tenant"), NAMES.c.key == bindparam("_key")))


class Batch:
    """One transaction's bookings; used once."""

    def __init__(self, connection: Connection, prices: PriceBook, *, process: str, time_us: int) -> None:
        self._connection = connection
        self._prices = prices
        self._stamp = Stamp(time_us=time_us, process=process, price=prices.version)
        self._counters = Counters(connection, time_us)
        self._rows = _Rows()
        self._requests: dict[str, KnownRequest] = {}
        self._names: dict[tuple[str, str], KnownName] = {}
        self._named: set[tuple[str, str]] = set()
        self._closed: list[str] = []
        self._freed: list[str] = []

    def book(self, entries: Sequence[Entry]) -> list[Result]:
        """Book entries in their order, and return what becomes of each."""
        self._load(entries)
        results = [self._entry(entry) for entry in entries]
        self._write()
        return results

    def lose(self, ids: Sequence[str]) -> None:
        """End running requests of a process that has ended."""
        self._requests = known_requests(self._connection, ids)
        running = [request for request in self._requests.values() if request.ending is None]
        self._counters.load(charge.counter for request in running for charge in request.charges)
        for request in running:
            row = unrun_row(request.id, Ending.LOST, "process ended", self._stamp.time_us, cost=request.cost)
            self._end(request, row, NOTHING, "lost")
        self._write()

    def _load(self, entries: Sequence[Entry]) -> None:
        bookings = [entry.booking for entry in entries]
        asked = [entry.booking.id for entry in entries if entry.was_tried or isinstance(entry.booking, Settle)]
        self._requests = known_requests(self._connection, asked)
        reserves = [booking for booking in bookings if isinstance(booking, Reserve)]
        self._names = known_names(self._connection, [name for one in reserves if (name := _name(one)) is not None])
        limits = (counter_of(limit, self._stamp.time_us)[0] for one in reserves for limit in one.limits)
        charges = (charge.counter for request in self._requests.values() for charge in request.charges)
        self._counters.load([*limits, *charges])

    def _entry(self, entry: Entry) -> Result:
        known = self._requests.get(entry.booking.id)
        match entry.booking:
            case Settle(settlement):
                return self._settle(entry, settlement, known)
            case Reserve() as booking:
                if known is not None:
                    return self._reserved_before(entry, known)
                return None if entry.is_abandoned() else self._reserve(booking)
            case Reject(id=request, rejection=rejection):
                if known is None:
                    self._rows.requests.append(rejected_row(request, rejection, self._stamp))
                    self._add_end(unrun_row(request, Ending.REJECTED, rejection.reason, self._stamp.time_us))
                    self._event(request, "rejected")
                return None
            case _:
                assert_never(entry.booking)

    def _reserve(self, booking: Reserve) -> Result:
        reservation = booking.reservation
        price = self._prices.price(reservation.model, reservation.service_class)
        cost = None if price is None else most_of(price, reservation.token_steps, reservation.prefill_tokens)
        refusal = self._duplicate(booking) or self._counters.refusal(reservation, booking.limits, cost)
        if refusal is not None:
            self._refuse(booking.id, reservation, refusal)
            return refusal
        charges = self._counters.reserve(reservation, booking.limits, cost)
        self._rows.requests.append(request_row(booking.id, reservation, self._stamp, cost=cost, charges=charges))
        self._rows.open.append({"request": booking.id, "process": self._stamp.process})
        self._event(booking.id, "reserved")
        name = _name(booking)
        if name is not None:
            self._named.add(name)
            self._names[name] = KnownName(
                request=booking.id,
                fingerprint=reservation.fingerprint,
                time_us=self._stamp.time_us,
                ending=None,
            )
        return Reserved(id=booking.id, cost=cost, standings=self._counters.standings(booking.limits))

    def _duplicate(self, booking: Reserve) -> UnmaskError | None:
        name = _name(booking)
        known = None if name is None else self._names.get(name)
        if name is None or known is None or self._stamp.time_us - known.time_us > NAME_S * SECOND_US:
            return None
        if known.ending not in {None, Ending.COMPLETED}:
            return None
        if known.fingerprint != booking.reservation.fingerprint:
            return IdempotencyMismatchError(name[1], first=known.request)
        return DuplicateRequestError(name[1], first=known.request, ending=known.ending)

    def _refuse(self, request: str, reservation: Reservation, refusal: UnmaskError) -> None:
        row = request_row(request, reservation, self._stamp, cost=0, charges=())
        self._rows.requests.append(row)
        reason = f"limit_{refusal.limit.kind}" if isinstance(refusal, LimitExceededError) else "duplicate"
        self._add_end(unrun_row(request, Ending.REJECTED, reason, self._stamp.time_us))
        self._event(request, "rejected")

    def _reserved_before(self, entry: Entry, known: KnownRequest) -> Result:
        """A commit that seemed to fail has not: what it made of the entry holds, unless nobody waits for it now."""
        if entry.is_abandoned() and known.ending is None:
            row = unrun_row(known.id, Ending.ABORTED, WITHDRAWN, self._stamp.time_us)
            self._end(known, row, Used(requests=1, steps=0, cost=0), "settled")
        return entry.tried

    def _settle(self, entry: Entry, settlement: Settlement, known: KnownRequest | None) -> Result:
        if known is None:
            return UnknownReservationError(f"{settlement.id[:80]!r} is no request of this ledger")
        if known.ending is not None:
            return entry.tried if _is_own(entry, known.ending) else _ended(known.id, known.ending)
        if settlement.is_refused:
            row = unrun_row(known.id, Ending.REJECTED, settlement.reason, self._stamp.time_us)
            self._end(known, row, NOTHING, "rejected")
            return Settled(id=known.id, cost=0)
        book, took = self._book_of(known.price), settlement.attempts
        price = book.price(known.model, known.service_class)
        prices = [book.price_of_attempt(attempt.model, known.model, known.service_class) for attempt in took]
        costs = costs_of(prices, took, known.cost or 0)
        attempts = [
            attempt_row(known.id, number, attempt, of_attempt, cost)
            for number, (attempt, of_attempt, cost) in enumerate(zip(took, prices, costs, strict=True), 1)
        ]
        row = settled_row(settlement, attempts, price, self._stamp.time_us)
        steps = sum(attempt.steps for attempt in settlement.attempts)
        # Summed as the rows are: attempt by attempt, each rounded down.
        cost = None if price is None else sum(map(cost_in, attempts))
        # What is booked to the platform takes up nothing of anyone's limits.
        used = Used(requests=1, steps=steps, cost=cost) if settlement.billed else Used(requests=1, steps=0, cost=0)
        self._rows.attempts += attempts
        self._end(known, row, used, "settled")
        return Settled(id=known.id, cost=cost)

    def _book_of(self, version: str) -> PriceBook:
        if version == self._prices.version:
            return self._prices
        text = self._connection.execute(select(PRICES.c.document).where(PRICES.c.version == version)).scalar_one()
        return parse_document(text)

    def _end(self, request: KnownRequest, row: Row, used: Used, kind: str) -> None:
        self._counters.release(request.charges, used)
        self._closed.append(request.id)
        if row["ending"] != Ending.COMPLETED:
            # Nothing was answered under its idempotency key, so it may come again.
            self._freed.append(request.id)
        self._add_end(row)
        self._event(request.id, kind)

    def _add_end(self, row: Row) -> None:
        self._rows.ends.append(row)

    def _event(self, request: str, kind: str) -> None:
        self._rows.events.append({"time_us": self._stamp.time_us, "request": request, "kind": kind})

    def _write(self) -> None:
        events = self._rows.events
        if not events:
            return
        ((last,),) = _TAKE_NUMBERS.rows(self._connection, {"_count": len(events)})
        for number, event in enumerate(events, last - len(events) + 1):
            event["number"] = number
        for table, rows in self._rows.by_table():
            _INSERTS[table].each(self._connection, rows)
        _CLOSE.each(self._connection, [{"_request": request} for request in self._closed])
        _FREE.each(self._connection, [{"_request": request} for request in self._freed])
        self._write_names()
        self._counters.write()

    def _write_names(self) -> None:
        _UNNAME.each(self._connection, [{"_tenant": tenant, "_key": key} for tenant, key in self._named])
        rows = [
            {
                "tenant": tenant,
                "key": key,
                "request": self._names[tenant, key].request,
                "fingerprint": self._names[tenant, key].fingerprint,
                "time_us": self._names[tenant, key].time_us,
            }
            for tenant, key in self._named
        ]
        _INSERTS[NAMES].each(self._connection, rows)


def _name(booking: Booking) -> tuple[str, str] | None:
    if not isinstance(booking, Reserve) or booking.reservation.idempotency_key is None:
        return None
    return booking.reservation.owner.tenant, booking.reservation.idempotency_key


def _is_own(entry: Entry, ending: Ending) -> bool:
    """Tell whether it was this entry's own transaction that ended the request, and not someone else's."""
    return entry.was_tried and isinstance(entry.tried, Settled) and ending is not Ending.LOST


def _ended(request: str, ending: Ending) -> UnmaskError:
    if ending is Ending.LOST:
        return ReservationLostError(
            f"request {request} was ended as lost, since its process counted as dead; its answer must not go out"
        )
    return AlreadySettledError(f"request {request} has {ending} already, and a request ends once")
