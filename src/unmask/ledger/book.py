"""The ledger in a database."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from sqlalchemy import Connection, Engine, insert, select

from unmask.clock import Clock, WallClock
from unmask.database.failures import translated
from unmask.database.transactions import writing
from unmask.errors import ConfigError, UnmaskError
from unmask.ledger.batch import Batch
from unmask.ledger.charges import SECOND_US
from unmask.ledger.entry import Booking, Entry, Reject, Reserve, Result, Settle, withdrawal
from unmask.ledger.errors import LedgerUnavailableError
from unmask.ledger.limit import Limit
from unmask.ledger.machine import Machine
from unmask.ledger.price import PriceBook
from unmask.ledger.price_file import PARAM, document_text
from unmask.ledger.processes import Processes
from unmask.ledger.rejection import Rejection
from unmask.ledger.reservation import Reservation, Reserved
from unmask.ledger.settlement import Settled, Settlement
from unmask.ledger.sweep import Sweeper
from unmask.ledger.tables import PRICES
from unmask.ledger.writer import LEDGER_LOCK, Writer, WriterLimits

_RANDOM_BYTES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the ledger asks of the world around it."""

    clock: Clock
    wall: WallClock
    machine: Machine
    random: Callable[[int], bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long callers wait, and how long other processes may be silent, in seconds.

    Attributes:
        reserve_s: for a reservation or a rejection to be durable.
        settle_s: for a settlement.
        lease_s: before a process that gives no sign of life counts as dead.
    """

    reserve_s: float = 5.0
    settle_s: float = 15.0
    lease_s: float = 15.0


class DatabaseLedger:
    """A `unmask.ledger.ledger.Ledger` in SQLite or PostgreSQL. It owns one thread, and not the engine.

    Made by `open_ledger`. Calls come from event loops; results return to the loop they were asked from.
    """

    def __init__(
        self,
        engine: Engine,
        prices: PriceBook,
        around: Surroundings,
        *,
        patience: Patience,
        limits: WriterLimits,
    ) -> None:
        self._prices = prices
        self._around = around
        self._patience = patience
        self._sweeper = Sweeper(around.clock, around.wall)
        self._processes = Processes(
            around.machine,
            self._new_id,
            self._lose,
            clock=around.clock,
            lease_s=patience.lease_s,
            beat_s=limits.beat_s,
        )
        with translated():
            self._begin(engine)
        self._writer = Writer(
            engine, self._book, self._processes, self._sweeper.sweep, clock=around.clock, limits=limits
        )

    @property
    def fails(self) -> bool:
        """Whether nothing can be booked at present; see `unmask.ledger.ledger.Ledger`."""
        return self._writer.fails

    async def reserve(self, reservation: Reservation, limits: Sequence[Limit] = ()) -> Reserved:
        """Book the worst case of a request; see `unmask.ledger.ledger.Ledger`."""
        booking = Reserve(self._new_id(), reservation, tuple(limits))
        result = await self._booked(booking, self._patience.reserve_s)
        assert isinstance(result, Reserved)
        return result

    async def settle(self, settlement: Settlement) -> Settled:
        """Book what a request has used; see `unmask.ledger.ledger.Ledger`."""
        result = await self._booked(Settle(settlement), self._patience.settle_s)
        assert isinstance(result, Settled)
        return result

    async def reject(self, rejection: Rejection) -> None:
        """Book a request that is turned away; see `unmask.ledger.ledger.Ledger`."""
        await self._booked(Reject(self._new_id(), rejection), self._patience.reserve_s)

    async def close(self) -> None:
        """Book what waits, and stop; see `unmask.ledger.ledger.Ledger`."""
        unbooked = await asyncio.shield(asyncio.to_thread(self._writer.close))
        if unbooked:
            raise LedgerUnavailableError(
                f"{unbooked} bookings could not be made before the ledger was closed; their requests end as lost"
            )

    async def _booked(self, booking: Booking, patience_s: float) -> Reserved | Settled | None:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Result] = loop.create_future()
        tell = partial(self._tell, loop, future)
        self._writer.submit(Entry(booking=booking, tell=tell, is_abandoned=future.cancelled))
        try:
            async with asyncio.timeout(patience_s):
                result = await future
        except TimeoutError as error:
            self._drop(future)
            raise LedgerUnavailableError(
                f"nothing could be booked for {patience_s:g} s; see whether the database runs and has room",
                retry_after_s=1,
            ) from error
        except asyncio.CancelledError:
            self._drop(future)
            raise
        if isinstance(result, UnmaskError):
            raise result
        return result

    def _drop(self, future: "asyncio.Future[Result]") -> None:
        """Give back what nobody waits for any more, whether it is booked by now or not."""
        if not future.cancel() and not future.cancelled():
            self._deliver(future, future.result())

    def _tell(self, loop: asyncio.AbstractEventLoop, future: "asyncio.Future[Result]", result: Result) -> None:
        """Return a result from the writer's thread to the loop that waits for it."""
        try:
            loop.call_soon_threadsafe(self._deliver, future, result)
        except RuntimeError:
            # The loop is closed, so nobody waits.
            self._withdraw(result)

    def _deliver(self, future: "asyncio.Future[Result]", result: Result) -> None:
        if future.done():
            self._withdraw(result)
        else:
            future.set_result(result)

    def _withdraw(self, result: Result) -> None:
        if not isinstance(result, Reserved):
            return
        try:
            self._writer.submit(withdrawal(result.id))
        except LedgerUnavailableError:
            # It is being closed, which ends whatever runs.
            return

    def _begin(self, engine: Engine) -> None:
        has_more = True
        while has_more:
            with writing(engine, LEDGER_LOCK) as connection:
                self._keep_prices(connection)
                self._processes.beat(connection)
                has_more = self._processes.reap(connection)

    def _keep_prices(self, connection: Connection) -> None:
        version, document = self._prices.version, document_text(self._prices)
        known = connection.execute(select(PRICES.c.document).where(PRICES.c.version == version)).scalar_one_or_none()
        if known is None:
            row = {"version": version, "time_us": self._time_us(), "document": document}
            connection.execute(insert(PRICES), [row])
        elif known != document:
            raise ConfigError(
                f"the price book is of version {version!r}, under which the ledger has other prices; "
                "give the new prices a version of their own",
                param=PARAM,
            )

    def _book(self, connection: Connection, entries: Sequence[Entry]) -> list[Result]:
        return self._batch(connection).book(entries)

    def _lose(self, connection: Connection, ids: Sequence[str]) -> None:
        self._batch(connection).lose(ids)

    def _batch(self, connection: Connection) -> Batch:
        return Batch(connection, self._prices, process=self._processes.id, time_us=self._time_us())

    def _time_us(self) -> int:
        return round(self._around.wall.time() * SECOND_US)

    def _new_id(self) -> str:
        """Return a name that no other has; later ones come later in order, as far as the time of day allows."""
        return f"{self._time_us():014x}{self._around.random(_RANDOM_BYTES).hex()}"


def open_ledger(
    engine: Engine,
    prices: PriceBook,
    around: Surroundings,
    *,
    patience: Patience | None = None,
    limits: WriterLimits | None = None,
) -> DatabaseLedger:
    """Open the ledger in a database of `unmask.database.engine.open_database`.

    Requests of processes that are known to have ended are ended as lost before it returns; those of processes that
    only seem to be gone, once their lease is over.

    Raises:
        ConfigError: the price book's version is known with other prices.
        DatabaseUnavailableError: the database does not answer or cannot be written.
    """
    return DatabaseLedger(engine, prices, around, patience=patience or Patience(), limits=limits or WriterLimits())
