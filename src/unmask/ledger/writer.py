"""The one thread that writes: commits what waits together, again and again until it is durable."""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from queue import Empty, SimpleQueue

from sqlalchemy import Connection, Engine

from unmask.clock import Clock
from unmask.database.failures import is_passing, unavailable
from unmask.database.transactions import KeptConnection
from unmask.ledger.entry import Entry, Reserve, Result, Settle, unheard, withdrawal
from unmask.ledger.errors import LedgerFullError, LedgerUnavailableError, UnwritableRowError
from unmask.ledger.processes import Processes
from unmask.ledger.reservation import Reserved
from unmask.ledger.settlement import Settlement
from unmask.types import Outcome

LEDGER_LOCK = 0x756E6D6B_01
"""Number of the lock that ledgers on one PostgreSQL database take turns by."""
UNWRITABLE = "unwritable"

Book = Callable[[Connection, Sequence[Entry]], list[Result]]

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class WriterLimits:
    """How much may wait, and how long.

    Attributes:
        waiting: reservations and rejections that may wait; settlements always may.
        batch: most bookings of one transaction.
        first_pause_s, longest_pause_s: between attempts to commit while the database cannot be used.
        beat_s: between signs of life while there is nothing to book.
        close_s: how long `Writer.close` goes on trying.
    """

    waiting: int = 10_000
    batch: int = 4_096
    first_pause_s: float = 0.02
    longest_pause_s: float = 0.5
    beat_s: float = 2.0
    close_s: float = 10.0


class _State(Enum):
    OPEN = auto()
    CLOSING = auto()
    CLOSED = auto()


class Writer:
    """Takes bookings from any thread and tells each what became of it once that is durable.

    What it has taken it keeps until it is committed: a commit that fails is repeated, and found out if it had not
    failed after all. A row that the database refuses is told from those beside it, and fails alone.
    """

    def __init__(
        self,
        engine: Engine,
        book: Book,
        processes: Processes,
        sweep: Callable[[Connection], None],
        *,
        clock: Clock,
        limits: WriterLimits,
    ) -> None:
        self._connection = KeptConnection(engine, LEDGER_LOCK)
        self._book = book
        self._processes = processes
        self._sweep = sweep
        self._clock = clock
        self._limits = limits
        self._lock = threading.Lock()
        # A condition would be woken twice, once for itself and once for its lock.
        self._bell = SimpleQueue[None]()
        self._waiting: list[Entry] = []
        self._state = _State.OPEN
        self._give_up_at = float("inf")
        self._unbooked = 0
        self._fails = False
        self._thread = threading.Thread(target=self._run, name="unmask-ledger", daemon=True)
        self._thread.start()

    @property
    def fails(self) -> bool:
        """Whether nothing could be written when it was last tried, as every beat does."""
        return self._fails

    def submit(self, entry: Entry) -> None:
        """Have an entry booked.

        Raises:
            LedgerFullError: as many wait as may.
            LedgerUnavailableError: it is closed.
        """
        with self._lock:
            if self._state is not _State.OPEN:
                raise LedgerUnavailableError("the ledger is closed; send the request to another server")
            if not isinstance(entry.booking, Settle):
                self._make_room()
            is_first = not self._waiting
            self._waiting.append(entry)
        # The writer takes all that wait, so that one ring is enough for them.
        if is_first:
            self._bell.put(None)

    def close(self) -> int:
        """Book what waits, stop, and return how many bookings could not be made; blocks."""
        with self._lock:
            if self._state is _State.OPEN:
                self._state = _State.CLOSING
                self._give_up_at = self._clock.now() + self._limits.close_s
        self._bell.put(None)
        self._thread.join()
        return self._unbooked

    def _make_room(self) -> None:
        if len(self._waiting) < self._limits.waiting:
            return
        self._waiting = [entry for entry in self._waiting if not _is_void(entry)]
        count = sum(not isinstance(entry.booking, Settle) for entry in self._waiting)
        if count >= self._limits.waiting:
            raise LedgerFullError(
                f"{count} bookings wait for the database, allowed: {self._limits.waiting}; "
                "see whether it keeps up, and try again",
                retry_after_s=1,
            )

    def _run(self) -> None:
        while (entries := self._take()) is not None:
            if entries:
                self._commit(entries)
            else:
                self._beat()
        self._leave()
        with self._lock:
            self._state = _State.CLOSED

    def _take(self) -> list[Entry] | None:
        """Wait for something to book; nothing is time for a sign of life, and ``None`` the end."""
        while True:
            with self._lock:
                if not self._waiting and self._state is not _State.OPEN:
                    return None
                if self._processes.is_due():
                    return []
                if self._waiting:
                    taken, self._waiting = self._waiting[: self._limits.batch], self._waiting[self._limits.batch :]
                    return taken
            try:
                self._bell.get(timeout=self._limits.beat_s)
            except Empty:
                return []

    def _commit(self, entries: list[Entry]) -> None:
        book, pause = self._book, self._limits.first_pause_s
        while entries := [entry for entry in entries if not _is_void(entry)]:
            try:
                results = self._transaction(entries, book)
            except Exception as error:  # noqa: BLE001 - a thread that ended would take every later booking with it
                if not is_passing(error) and book != self._each:
                    book = self._each
                    continue
                if self._must_give_up():
                    _LOG.exception("the ledger gives up on %d bookings", len(entries))
                    self._fail(entries, error)
                    return
                self._fails = True
                _LOG.warning("the ledger cannot write and tries again: %s", unavailable(error).message)
                time.sleep(pause)
                pause = min(2 * pause, self._limits.longest_pause_s)
            else:
                self._fails = False
                self._tell(entries, results)
                return

    def _transaction(self, entries: Sequence[Entry], book: Book) -> list[Result]:
        results: list[Result] = []
        try:
            with self._connection.writing() as connection:
                self._processes.be_known(connection)
                results = book(connection, entries)
        except Exception:
            # Where the commit failed it may have happened nevertheless; before that, there is nothing to find.
            for entry, result in zip(entries, results, strict=False):
                entry.was_tried, entry.tried = True, result
            raise
        return results

    def _each(self, connection: Connection, entries: Sequence[Entry]) -> list[Result]:
        """Book entries of which one or more are refused, each in a savepoint of its own."""
        return [self._booked_alone(connection, entry) for entry in entries]

    def _booked_alone(self, connection: Connection, entry: Entry) -> Result:
        try:
            with connection.begin_nested():
                (result,) = self._book(connection, [entry])
        except Exception as error:
            if is_passing(error):
                raise
            _LOG.exception("a booking is refused by the database")
            return UnwritableRowError(f"the database refuses this booking ({type(error).__name__}), so it is not made")
        return result

    def _tell(self, entries: Sequence[Entry], results: Sequence[Result]) -> None:
        for entry, result in zip(entries, results, strict=True):
            if isinstance(result, Reserved) and entry.is_abandoned():
                # Before whatever waits: it may be the room that another one asks for.
                self._put_first(withdrawal(result.id))
                continue
            if isinstance(result, UnwritableRowError) and isinstance(entry.booking, Settle):
                self._end_bare(entry.booking.settlement)
            entry.tell(result)

    def _end_bare(self, settlement: Settlement) -> None:
        """End a request without what could not be written of it, so that its reservation does not stay."""
        if settlement.reason != UNWRITABLE:
            self._put_first(
                unheard(Settlement(id=settlement.id, outcome=Outcome.FAILED, reason=UNWRITABLE, billed=False))
            )

    def _put_first(self, entry: Entry) -> None:
        with self._lock:
            self._waiting.insert(0, entry)

    def _beat(self) -> None:
        try:
            with self._connection.writing() as connection:
                self._processes.beat(connection)
                self._processes.reap(connection)
                self._sweep(connection)
            self._fails = False
        except Exception as error:  # noqa: BLE001 - as in `_commit`
            self._processes.missed()
            self._fails = True
            _LOG.warning("the ledger cannot be reached: %s", unavailable(error).message)
            time.sleep(self._limits.first_pause_s)

    def _leave(self) -> None:
        try:
            with self._connection.writing() as connection:
                self._processes.leave(connection)
        except Exception as error:  # noqa: BLE001 - whoever opens the ledger next finds what is left
            _LOG.warning("the ledger is left as it is: %s", unavailable(error).message)
        finally:
            self._connection.close()

    def _must_give_up(self) -> bool:
        with self._lock:
            return self._state is not _State.OPEN and self._clock.now() >= self._give_up_at

    def _fail(self, entries: Sequence[Entry], error: Exception) -> None:
        self._unbooked += len(entries)
        for entry in entries:
            entry.tell(LedgerUnavailableError(f"this could not be booked: {unavailable(error).message}"))


def _is_void(entry: Entry) -> bool:
    """Tell whether an entry need not be booked: nobody waits, and it cannot have been."""
    return isinstance(entry.booking, Reserve) and not entry.was_tried and entry.is_abandoned()
