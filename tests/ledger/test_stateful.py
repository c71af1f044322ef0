"""A law of the ledger: whatever is reserved, settled, dropped, crashed and started again, the books balance."""

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, precondition, rule

from tests.ledger.databases import PRICES, World, crash
from unmask.database.engine import open_database
from unmask.database.place import database_url
from unmask.ledger.charges import counter_of
from unmask.ledger.errors import DuplicateRequestError, LimitExceededError
from unmask.ledger.limit import Limit, LimitKind
from unmask.ledger.owner import Owner
from unmask.ledger.price import cost_of, most_of
from unmask.ledger.rejection import Rejection
from unmask.ledger.reservation import Reserved
from unmask.ledger.settlement import Purpose
from unmask.ledger.tables import ENDS, OPEN
from unmask.testing.ledgers import make_attempt, make_reservation, make_settlement
from unmask.types import Outcome

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from unmask.ledger.book import DatabaseLedger

TENANTS = ("acme", "other")
AMOUNTS = {LimitKind.REQUESTS: 8, LimitKind.STEPS: 200, LimitKind.COST: 300, LimitKind.CONCURRENCY: 3}
WINDOW_S = 60
PRICE = PRICES.prices[0]
_Result = TypeVar("_Result")


@cache
def empty_ledger() -> bytes:
    """Return a database with the tables in it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.db"
        open_database(database_url(str(path), {})).dispose()
        return path.read_bytes()


class Books(RuleBasedStateMachine):
    """Two servers on one database, and a model of what each limit has left."""

    running = Bundle("running")

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        path = self.folder / "ledger.db"
        path.write_bytes(empty_ledger())
        self.world = World(database_url(str(path), {}))
        self.loop = asyncio.new_event_loop()
        self.servers: list[tuple[Engine, DatabaseLedger, int]] = []
        self.used: dict[str, int] = {}
        self.charged: dict[str, list[tuple[str, LimitKind, int]]] = {}
        self.owners: dict[str, int] = {}
        self.endings: dict[str, str] = {}
        for _ in range(2):
            self.start()

    def teardown(self) -> None:
        """Stop all, and prove the books."""
        for engine, ledger, _ in self.servers:
            self.loop.run_until_complete(ledger.close())
            engine.dispose()
        found = self.world.verify()
        ends = {row["request"]: row["ending"] for row in self.world.rows(ENDS)}
        self.loop.close()
        shutil.rmtree(self.folder)
        assert found.faults == ()
        assert found.running == 0
        assert {name: ends.get(name) for name in self.endings} == self.endings

    def start(self) -> None:
        """Start a server."""
        engine = self.world.engine()
        ledger = self.world.open(engine)
        self.servers.append((engine, ledger, self.world.machine._last))

    def run(self, awaitable: Awaitable[_Result]) -> _Result:
        """Run until it is done."""
        return self.loop.run_until_complete(asyncio.wait_for(awaitable, 30))

    def limits(self, tenant: str) -> list[Limit]:
        """Return the limits of a tenant."""
        return [
            Limit(
                scope=f"tenant:{tenant}",
                kind=kind,
                window_s=0 if kind is LimitKind.CONCURRENCY else WINDOW_S,
                amount=amount,
            )
            for kind, amount in AMOUNTS.items()
        ]

    @rule(
        target=running,
        tenant=st.sampled_from(TENANTS),
        steps=st.integers(1, 150),
        server=st.integers(0, 1),
        key=st.none() | st.sampled_from("ab"),
    )
    def reserve(self, tenant: str, steps: int, server: int, key: str | None) -> str:
        """Admitted exactly if the model has room in every limit."""
        asked = make_reservation(tenant, steps=steps, token_steps=steps * 8, idempotency_key=key)
        cost = most_of(PRICE, asked.token_steps, asked.prefill_tokens)
        takes = {LimitKind.REQUESTS: 1, LimitKind.STEPS: steps, LimitKind.COST: cost, LimitKind.CONCURRENCY: 1}
        now_us = round(self.world.wall.time() * 1_000_000)
        charges = [(counter_of(limit, now_us)[0], limit.kind, takes[limit.kind]) for limit in self.limits(tenant)]
        fits = all(self.used.get(name, 0) + amount <= AMOUNTS[kind] for name, kind, amount in charges)
        try:
            reserved = self.run(self.servers[server][1].reserve(asked, self.limits(tenant)))
        except LimitExceededError:
            assert not fits
            return ""
        except DuplicateRequestError as error:
            is_taken = self.endings.get(error.first, "completed") == "completed"
            return self.none_but_if(taken=is_taken)
        assert fits
        assert isinstance(reserved, Reserved)
        self.charged[reserved.id], self.owners[reserved.id] = charges, server
        for name, _, amount in charges:
            self.used[name] = self.used.get(name, 0) + amount
        return reserved.id

    def none_but_if(self, *, taken: bool) -> str:
        """Return no request, where an idempotency key stands for one that runs or is completed."""
        assert taken
        return ""

    @rule(request=consumes(running), share=st.floats(0, 1), outcome=st.sampled_from(Outcome), billed=st.booleans())
    def settle(self, request: str, share: float, outcome: Outcome, billed: bool) -> None:
        """What was not used comes back."""
        if request not in self.charged:
            return
        charges = self.charged.pop(request)
        steps = int(share * next(amount for _, kind, amount in charges if kind is LimitKind.STEPS))
        attempts = [
            make_attempt(purpose=purpose, steps=part, token_steps=part * 8, prefill_tokens=25)
            for purpose, part in ((Purpose.ANSWER, steps // 2), (Purpose.RE_EXPANSION, steps - steps // 2))
        ]
        cost = sum(cost_of(PRICE, one.token_steps, one.prefill_tokens) for one in attempts)
        ledger = self.servers[self.owners[request]][1]
        self.run(ledger.settle(make_settlement(request, outcome=outcome, billed=billed, attempts=tuple(attempts))))
        left = {
            LimitKind.REQUESTS: 1,
            LimitKind.STEPS: steps if billed else 0,
            LimitKind.COST: cost if billed else 0,
            LimitKind.CONCURRENCY: 0,
        }
        for name, kind, amount in charges:
            self.used[name] += left[kind] - amount
        self.endings[request] = outcome

    @rule(tenant=st.sampled_from(TENANTS), server=st.integers(0, 1))
    def reject(self, tenant: str, server: int) -> None:
        """A request that was turned away takes nothing."""
        self.run(self.servers[server][1].reject(Rejection(owner=Owner(tenant=tenant), reason="queue_full")))

    @rule(tenant=st.sampled_from(TENANTS), server=st.integers(0, 1), turns=st.integers(0, 3))
    def abort(self, tenant: str, server: int, turns: int) -> None:
        """A caller that goes away leaves nothing behind; without limits, so that no model need know when."""

        async def leave() -> None:
            task = asyncio.ensure_future(self.servers[server][1].reserve(make_reservation(tenant)))
            for _ in range(turns):
                await asyncio.sleep(0)
            task.cancel()
            (result,) = await asyncio.gather(task, return_exceptions=True)
            if isinstance(result, Reserved):
                await self.servers[server][1].settle(make_settlement(result.id, outcome=Outcome.ABORTED))

        self.run(leave())

    @rule(server=st.integers(0, 1))
    def crash_and_restart(self, server: int) -> None:
        """Requests of the dead end as lost, charged to nobody; those of the other server go on."""
        engine, ledger, pid = self.servers.pop(server)
        crash(ledger)
        engine.dispose()
        self.world.machine.end(pid)
        self.start()
        self.servers.insert(server, self.servers.pop())
        for request in [name for name in self.charged if self.owners[name] == server]:
            for name, _, amount in self.charged.pop(request):
                self.used[name] -= amount
            self.endings[request] = "lost"

    @rule(seconds=st.integers(-90, 90))
    def move_the_clock(self, seconds: int) -> None:
        """The time of day goes on, or is set back."""
        self.world.wall.set(self.world.wall.time() + seconds)

    @precondition(lambda self: self.charged)
    @invariant()
    def nothing_is_overspent(self) -> None:
        """No counter of the model is above its limit."""
        for name, used in self.used.items():
            assert 0 <= used <= AMOUNTS[LimitKind(name.split("|")[0])]

    @invariant()
    def what_runs_is_open(self) -> None:
        """The ledger knows every request that runs."""
        assert set(self.charged) <= {row["request"] for row in self.world.rows(OPEN)}


class BooksForLong(Books):
    """The same for longer."""


Books.TestCase.settings = settings(max_examples=6, stateful_step_count=20, deadline=None)
BooksForLong.TestCase.settings = settings(max_examples=80, stateful_step_count=30, deadline=None)
BooksTest = Books.TestCase
BooksForLongTest = pytest.mark.slow(BooksForLong.TestCase)
