"""A server's ledger in a process of its own, which tests kill: says on stdout what it was told is booked."""

import asyncio
import os
import sys
from random import Random

from sqlalchemy import make_url

from tests.ledger.databases import PRICES
from unmask.clock import SystemClock, SystemWallClock
from unmask.database.engine import open_database
from unmask.ledger.book import DatabaseLedger, Surroundings, open_ledger
from unmask.ledger.limit import Limit, LimitKind
from unmask.ledger.machine import SystemMachine
from unmask.testing.ledgers import make_reservation, make_settlement

CALLERS = 20
LIMITS = (
    Limit(scope="tenant:acme", kind=LimitKind.STEPS, window_s=86_400, amount=10**9),
    Limit(scope="tenant:acme", kind=LimitKind.CONCURRENCY, amount=CALLERS),
)


async def call(ledger: DatabaseLedger, random: Random) -> None:
    """Reserve and settle until killed."""
    while True:
        reserved = await ledger.reserve(make_reservation(), LIMITS)
        say("reserved", reserved.id)
        await asyncio.sleep(random.random() * 0.01)
        await ledger.settle(make_settlement(reserved.id))
        say("settled", reserved.id)


def say(what: str, request: str) -> None:
    """Write a line that is whole even if the process ends right behind it."""
    os.write(1, f"{what} {request}\n".encode())


async def serve(url: str) -> None:
    """Serve until killed."""
    around = Surroundings(clock=SystemClock(), wall=SystemWallClock(), machine=SystemMachine(), random=os.urandom)
    ledger = open_ledger(open_database(make_url(url)), PRICES, around)
    os.write(1, b"ready\n")
    await asyncio.gather(*(call(ledger, Random(number)) for number in range(CALLERS)))


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1]))
