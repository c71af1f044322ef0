"""Proves the ledger: every figure that is kept is counted anew from the rows that are never changed."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeAlias, cast

from sqlalchemy import Connection, Row, Select, select

from unmask.ledger.charges import Used, kept, read_charges
from unmask.ledger.owner import PLATFORM
from unmask.ledger.price import PriceBook, Taken, costs_of, most_of
from unmask.ledger.price_file import parse_document
from unmask.ledger.settlement import Ending, Purpose
from unmask.ledger.tables import ATTEMPTS, COUNTERS, ENDS, EVENTS, HEAD, NAMES, OPEN, PRICES, PROCESSES, REQUESTS

MOST_FAULTS = 100
"""Faults that are told one by one."""
_AT_ONCE = 1_000

Found: TypeAlias = Row[Any]

_SUMS = ("steps_allocated", "steps", "steps_saved", "steps_control")
_MORE_SUMS = ("prefill_tokens", "cached_tokens", "output_tokens")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What was found: how much was looked at, and what is wrong with it.

    ``faults`` names the first `MOST_FAULTS`; ``fault_count`` is how many there are.
    """

    requests: int
    running: int
    events: int
    attempts: int
    cost: int
    unpriced: int
    faults: tuple[str, ...]
    fault_count: int


def verify_ledger(connection: Connection) -> Verified:
    """Look at every row in one transaction, so that bookings that go on meanwhile are no faults.

    Checked are: events are numbered without gaps and fit the rows; every request has one outcome or runs, and never
    both; attempts add up to what was settled, at the prices of then; nothing took more than was reserved; what is
    counted against limits is what its requests have used; what is lost is booked to the platform.
    """
    return _Verification(connection).run()


class _Verification:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._faults: list[str] = []
        self._count = 0
        self._books: dict[str, PriceBook] = {}
        self._counted = Counter[str]()
        self._held = Counter[str]()
        self._requests = self._running = self._attempts = self._cost = self._unpriced = 0

    def run(self) -> Verified:
        self._read_books()
        events = self._check_events()
        self._check_requests()
        self._check_strays()
        self._check_counters()
        return Verified(
            requests=self._requests,
            running=self._running,
            events=events,
            attempts=self._attempts,
            cost=self._cost,
            unpriced=self._unpriced,
            faults=tuple(self._faults),
            fault_count=self._count,
        )

    def _fault(self, text: str) -> None:
        self._count += 1
        if len(self._faults) < MOST_FAULTS:
            self._faults.append(text)

    def _read_books(self) -> None:
        for version, document in self._connection.execute(select(PRICES.c.version, PRICES.c.document)):
            self._books[version] = parse_document(document)

    def _check_events(self) -> int:
        """Look for numbers that are missing, in their order."""
        last = 0
        for (number,) in self._connection.execute(select(EVENTS.c.number).order_by(EVENTS.c.number)):
            if number != last + 1:
                self._fault(f"events {last + 1} to {number - 1} are missing")
            last = number
        head: int = self._connection.execute(select(HEAD.c.number)).scalar_one()
        if head != last:
            self._fault(f"events {last + 1} to {head} are missing" if head > last else f"event {last} was never booked")
        return last

    def _check_requests(self) -> None:
        """Walk through requests with their attempts and events side by side, all in the order of their names."""
        attempts = _Groups(self._rows(select(ATTEMPTS).order_by(ATTEMPTS.c.request, ATTEMPTS.c.number)))
        events = _Groups(
            self._rows(select(EVENTS.c.request, EVENTS.c.kind).order_by(EVENTS.c.request, EVENTS.c.number))
        )
        ends = [column.label(f"end_{column.name}") for column in ENDS.c]
        query = (
            select(REQUESTS, *ends, OPEN.c.process.label("open_process"))
            .select_from(
                REQUESTS.outerjoin(ENDS, ENDS.c.request == REQUESTS.c.id).outerjoin(
                    OPEN, OPEN.c.request == REQUESTS.c.id
                )
            )
            .order_by(REQUESTS.c.id)
        )
        for row in self._rows(query):
            self._requests += 1
            took = attempts.of(row.id)
            self._attempts += len(took)
            self._check_outcome(row, [event.kind for event in events.of(row.id)])
            if row.end_ending is not None:
                self._check_sums(row, took)
                self._check_costs(row, took)
            elif took:
                self._fault(f"request {row.id} runs and has attempts already")
            self._count_charges(row)
        for stray in (*attempts.rest(), *events.rest()):
            self._fault(f"request {stray} is missing, of which there are attempts or events")

    def _check_outcome(self, row: Found, kinds: list[str]) -> None:
        name, ending = row.id, row.end_ending
        if ending is None:
            self._running += 1
            expected = ["reserved"]
            if row.open_process is None:
                self._fault(f"request {name} has no outcome and does not run")
        else:
            last = {Ending.REJECTED: "rejected", Ending.LOST: "lost"}.get(ending, "settled")
            # One that was turned away may have been reserved before.
            expected = [last] if ending == Ending.REJECTED and "reserved" not in kinds else ["reserved", last]
            if row.open_process is not None:
                self._fault(f"request {name} has {ending} and still runs")
        if kinds != expected:
            self._fault(f"request {name} has the events {', '.join(kinds) or 'none'}, not {', '.join(expected)}")
        if ending == Ending.LOST and row.end_payer != PLATFORM:
            self._fault(f"request {name} is lost and booked to its owner")

    def _check_sums(self, row: Found, took: list[Found]) -> None:
        values = row._mapping  # noqa: SLF001 - how SQLAlchemy names columns that are not known beforehand
        if [attempt.number for attempt in took] != list(range(1, row.end_attempts + 1)):
            self._fault(f"request {row.id} has {len(took)} attempts, and {row.end_attempts} were booked")
        sums = {name: sum(attempt._mapping[name] for attempt in took) for name in (*_SUMS, *_MORE_SUMS)}  # noqa: SLF001
        for purpose in (Purpose.RE_EXPANSION, Purpose.SEARCH, Purpose.VERIFICATION):
            ours = [attempt for attempt in took if attempt.purpose == purpose]
            sums[f"steps_{purpose}"] = sum(attempt.steps for attempt in ours)
            sums[f"cost_{purpose}"] = sum(attempt.cost or 0 for attempt in ours)
        for name, total in sums.items():
            if values[f"end_{name}"] != total:
                self._fault(f"request {row.id}: {name} are {values[f'end_{name}']}, its attempts add up to {total}")
        if sums["steps"] > row.steps:
            self._fault(f"request {row.id} took {sums['steps']} steps, reserved were {row.steps}")

    def _check_costs(self, row: Found, took: list[Found]) -> None:
        self._cost += row.end_cost or 0
        self._unpriced += row.end_cost is None
        book = self._books.get(row.price)
        if book is None:
            self._fault(f"request {row.id} is priced by {row.price!r}, of which the ledger has no prices")
            return
        if row.end_ending == Ending.REJECTED:
            expected: int | None = 0
        else:
            price = book.price(row.model, row.service_class)
            most = None if price is None else most_of(price, row.token_steps, row.prefill_tokens)
            if row.cost != most:
                self._fault(f"request {row.id} had {row.cost} reserved, its prices say {most}")
            prices = [book.price_of_attempt(one.model, row.model, row.service_class) for one in took]
            costs = costs_of(prices, cast("list[Taken]", took), most or 0)
            if [attempt.cost for attempt in took] != costs:
                self._fault(f"request {row.id}: an attempt's cost is not what its prices say")
            expected = None if price is None else sum(cost or 0 for cost in costs)
            expected = most if row.end_ending == Ending.LOST else expected
        if row.end_cost != expected:
            self._fault(f"request {row.id}: its cost is {row.end_cost}, its attempts and prices say {expected}")

    def _count_charges(self, row: Found) -> None:
        for charge in read_charges(row.charges):
            self._counted[charge.counter] += charge.amount if row.end_ending is None else kept(charge, _used(row))
            self._held[charge.counter] += charge.amount if row.end_ending is None else 0

    def _check_strays(self) -> None:
        """Look for what belongs to nothing."""
        processes = select(PROCESSES.c.id)
        for row in self._rows(select(OPEN.c.request).where(OPEN.c.process.not_in(processes))):
            self._fault(f"request {row.request} runs in a process that is gone")
        query = select(NAMES.c.tenant, NAMES.c.key).outerjoin(REQUESTS, REQUESTS.c.id == NAMES.c.request)
        for row in self._rows(query.where(REQUESTS.c.id.is_(None))):
            self._fault(f"idempotency key {row.key!r} of {row.tenant!r} stands for no request")

    def _check_counters(self) -> None:
        """Compare what limits count with what was just counted; those of windows long past may be gone."""
        found: dict[str, int] = {}
        for name, used, held in self._connection.execute(select(COUNTERS.c.id, COUNTERS.c.used, COUNTERS.c.held)):
            found[name] = used
            if self._counted[name] != used:
                self._fault(f"limit {name} counts {used}, its requests have used {self._counted[name]}")
            if self._held[name] != held:
                self._fault(f"limit {name} holds {held}, requests that run have reserved {self._held[name]}")
        swept_us = self._connection.execute(select(HEAD.c.swept_us)).scalar_one()
        for name, used in self._counted.items():
            if name not in found and used and _ends_us(name) >= swept_us:
                self._fault(f"limit {name} counts nothing, its requests have used {used}")

    def _rows(self, query: Select[Any]) -> Iterator[Found]:
        yield from self._connection.execute(query, execution_options={"yield_per": _AT_ONCE})


class _Groups:
    """Rows in pieces of one request each, both in the order of their names."""

    def __init__(self, rows: Iterator[Found]) -> None:
        self._groups = groupby(rows, key=lambda row: str(row.request))
        self._next = self._advance()
        self._passed: list[str] = []

    def of(self, request: str) -> list[Found]:
        """Return the rows of a request; those of names that come before it are left over."""
        while self._next is not None and self._next[0] < request:
            self._passed.append(self._next[0])
            self._next = self._advance()
        if self._next is None or self._next[0] != request:
            return []
        found = self._next[1]
        self._next = self._advance()
        return found

    def rest(self) -> list[str]:
        """Return the requests that nobody asked for."""
        while self._next is not None:
            self._passed.append(self._next[0])
            self._next = self._advance()
        return self._passed

    def _advance(self) -> tuple[str, list[Found]] | None:
        group = next(self._groups, None)
        return None if group is None else (group[0], list(group[1]))


def _used(row: Found) -> Used:
    """Return what an ended request keeps of its limits; see `unmask.ledger.batch`."""
    if row.end_ending in {Ending.LOST, Ending.REJECTED}:
        return Used(requests=0, steps=0, cost=0)
    if row.end_payer == PLATFORM:
        return Used(requests=1, steps=0, cost=0)
    return Used(requests=1, steps=row.end_steps, cost=row.end_cost)


def _ends_us(counter: str) -> int:
    _, window_s, number, _ = counter.split("|", 3)
    return (int(number) + 1) * int(window_s) * 1_000_000
