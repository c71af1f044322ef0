"""Who waits for whose answer."""

import asyncio

import pytest

from unmask.cache.flights import Flights
from unmask.testing.caches import make_question

QUESTION = make_question("고향은 어디인가요?")


async def test_whoever_waits_goes_on_when_the_answer_is_there() -> None:
    """And not before."""
    flights = Flights()
    with flights.flying(QUESTION):
        waiting = asyncio.ensure_future(flights.landed(QUESTION, 60.0))
        await asyncio.sleep(0)
        assert flights.is_flying(QUESTION)
        assert not flights.is_flying(make_question("이름은 무엇인가요?"))
        assert not waiting.done()
    await waiting
    assert not flights.is_flying(QUESTION)


async def test_whoever_waits_goes_on_when_the_answer_never_comes() -> None:
    """An error or a cancelled call ends the flight as an answer does."""
    flights = Flights()
    waiting: list[asyncio.Future[None]] = []

    async def fly() -> None:
        with flights.flying(QUESTION):
            waiting.append(asyncio.ensure_future(flights.landed(QUESTION, 60.0)))
            await asyncio.Event().wait()

    flying = asyncio.ensure_future(fly())
    await asyncio.sleep(0)
    flying.cancel()
    with pytest.raises(asyncio.CancelledError):
        await flying
    await waiting[0]


async def test_a_wait_is_bounded() -> None:
    """What was waited for goes on all the same, and one who has given up is missed by nobody."""
    flights = Flights()
    with flights.flying(QUESTION):
        await flights.landed(QUESTION, 0.0)
        assert flights.is_flying(QUESTION)


async def test_the_first_is_waited_for() -> None:
    """One who has waited in vain and makes an answer too does not end its flight."""
    flights = Flights()
    with flights.flying(QUESTION):
        with flights.flying(QUESTION):
            pass
        assert flights.is_flying(QUESTION)
