"""How busy the servers of a model are, as their places tell."""

import asyncio

import pytest

from tests.remote.remotes import make_request, remote, texts
from unmask.control.pressure import PRESSED_S, is_pressed
from unmask.remote.places import LEAST_ENDED, PATIENCE_S, Places
from unmask.service import ClassTerms
from unmask.testing.fake_upstream import STREAM_HEAD, Exchange, answer
from unmask.testing.manual_clock import ManualClock
from unmask.testing.waiting import until

BATCH = ClassTerms(name="묶음", deadline_s=30.0)


def seen(clock: ManualClock, *seconds: float) -> Places:
    """Return places that were held for so long, one after the other."""
    places = Places(clock)
    for held in seconds:
        with places.visit(ClassTerms(), 600.0) as visit:
            clock.advance(1.0)
            places.begin(visit)
            clock.advance(held)
    return places


def test_who_waits_is_told_by_class() -> None:
    """How many, how long the first has waited, and how long they may."""
    clock = ManualClock()
    places = Places(clock)
    with places.visit(BATCH, 600.0) as first, places.visit(ClassTerms(), 20.0):
        clock.advance(2.0)
        places.begin(first)
        clock.advance(1.0)
        with places.visit(BATCH, 600.0):
            clock.advance(0.5)
            batch, plain = places.queues()

    assert (batch.service_class, batch.waiting, batch.oldest_s, batch.patience_s) == ("묶음", 1, 0.5, 30.0)
    assert (batch.admitted, batch.waited_s) == (1, 2.0)
    assert (plain.waiting, plain.oldest_s, plain.patience_s) == (1, 3.5, 20.0)
    assert [queue.waiting for queue in places.queues()] == [0, 0]


def test_the_wait_of_whoever_comes_next_is_predicted() -> None:
    """All that wait, in one line whatever their class, at the pace at which places become free."""
    places = seen(ManualClock(), *[4.0] * LEAST_ENDED)
    with places.visit(ClassTerms(), 600.0) as running, places.visit(BATCH, 600.0), places.visit(BATCH, 600.0):
        places.begin(running)
        plain, batch = places.works(2)

    assert (plain.drain_s, plain.slack_s) == (4.0, PATIENCE_S)
    assert (batch.drain_s, batch.slack_s, batch.pressure) == (4.0, 30.0, 4.0 / 30.0)
    assert places.works(2) == ()


def test_nothing_is_predicted_before_enough_was_seen() -> None:
    """Nor where no server takes anything."""
    places = seen(ManualClock(), *[4.0] * (LEAST_ENDED - 1))
    with places.visit(BATCH, 600.0):
        assert places.works(2) == ()
    assert places.held_p95_s is None

    places = seen(ManualClock(), *[4.0] * LEAST_ENDED)
    with places.visit(BATCH, 600.0):
        assert places.works(0) == ()
        assert places.works(1)


def test_what_was_cut_off_says_nothing_of_how_long_answers_take() -> None:
    """It is counted as gone all the same."""
    clock = ManualClock()
    places = seen(clock, *[4.0] * (LEAST_ENDED - 1))

    def reset() -> None:
        with places.visit(BATCH, 600.0) as visit:
            places.begin(visit)
            raise RuntimeError("reset")

    with pytest.raises(RuntimeError):
        reset()

    assert places.held_p95_s is None
    assert all(queue.waiting == 0 for queue in places.queues())


def test_how_long_answers_take_is_of_the_latest() -> None:
    """Of 20 the second longest."""
    places = seen(ManualClock(), *range(1, 21))

    assert places.held_p95_s == 19.0


async def test_whoever_waits_for_a_server_presses_those_that_nobody_waits_for() -> None:
    """One place, held; the load says who is in line for it."""
    gate = asyncio.Event()

    async def script(exchange: Exchange) -> None:
        await gate.wait()
        await exchange.send(STREAM_HEAD, *answer("하나"))

    async with remote(script, script, upstream={"concurrency": 1}) as far:
        asking = [asyncio.ensure_future(texts(far.backend, make_request(terms=BATCH))) for _ in range(2)]
        await until(lambda: far.backend.load()[0].waiting == 1 and far.asked == 1)
        before = is_pressed(far.backend.load()[0])
        far.clock.advance(PRESSED_S)
        (load,) = far.backend.load()
        gate.set()
        await asyncio.gather(*asking)

    assert (before, is_pressed(load)) == (False, True)
    assert [(queue.service_class, queue.waiting) for queue in load.queues] == [("묶음", 1)]
