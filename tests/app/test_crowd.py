"""Behaviour of `unmask.app.crowd`: who makes room, and what the others are told."""

import asyncio
from contextlib import AsyncExitStack

from tests.app.site import GET, open_site, post
from unmask.app.crowd import RESERVE, Crowd, Room
from unmask.app.files import make_room
from unmask.testing.fake_backend import FakeBackend
from unmask.testing.waiting import until


class Guest:
    """A connection that notes what it is told."""

    def __init__(self) -> None:
        self.evicted = False
        self.drained = False

    def evict(self) -> None:
        """Note it."""
        self.evicted = True

    def drain(self) -> None:
        """Note it."""
        self.drained = True


def test_the_longest_idle_makes_room() -> None:
    """Idle since its opening or since its last answer, whichever is later; who works is left alone."""
    crowd, (first, second, third, fourth, fifth) = Crowd(3), [Guest() for _ in range(5)]
    for guest in (first, second, third):
        assert crowd.enter(guest) is Room.FREE
    crowd.begin_work(first)
    crowd.begin_work(second)
    crowd.end_work(first)

    assert crowd.enter(fourth) is Room.FREE
    assert crowd.enter(fifth) is Room.FREE
    assert [guest.evicted for guest in (first, second, third, fourth)] == [True, False, True, False]


def test_nobody_makes_room_who_works() -> None:
    """Then there is a reserve, and beyond it nothing."""
    crowd = Crowd(2)
    guests = [Guest() for _ in range(2 + RESERVE + 1)]
    rooms = []
    for guest in guests:
        rooms.append(crowd.enter(guest))
        crowd.begin_work(guest)

    assert rooms == [Room.FREE] * 2 + [Room.CROWDED] * RESERVE + [Room.NONE]
    assert not any(guest.evicted for guest in guests)


def test_reserve_makes_room_within_itself() -> None:
    """One that is idle there makes room once the reserve is full, and only for the reserve."""
    crowd = Crowd(1)
    worker, *waiting, last = [Guest() for _ in range(1 + RESERVE + 1)]
    crowd.enter(worker)
    crowd.begin_work(worker)
    rooms = {crowd.enter(guest) for guest in waiting}

    assert not any(guest.evicted for guest in waiting)
    assert rooms == {crowd.enter(last)} == {Room.CROWDED}
    assert [guest.evicted for guest in waiting] == [True] + [False] * (RESERVE - 1)


def test_who_has_left_is_forgotten() -> None:
    """A connection that ends makes room, and ends no work afterwards."""
    crowd, (first, second) = Crowd(1), [Guest() for _ in range(2)]
    crowd.enter(first)
    crowd.begin_work(first)
    crowd.leave(first)
    crowd.end_work(first)

    assert crowd.enter(second) is Room.FREE
    assert not first.evicted


def test_drain_reaches_everybody() -> None:
    """Each decides for itself what there is to finish."""
    crowd, guests = Crowd(2), [Guest() for _ in range(2)]
    for guest in guests:
        crowd.enter(guest)
    crowd.begin_work(guests[0])
    crowd.begin_drain()

    assert crowd.draining
    assert all(guest.drained for guest in guests)


async def test_a_thousand_idle_connections_stop_nobody() -> None:
    """As many as may be open, half of them silent and half between requests: the next request is answered."""
    make_room(2_200)
    async with open_site(max_connections=1_000) as site, AsyncExitStack() as stack:
        wires = await asyncio.gather(*(site.connect() for _ in range(1_000)))
        for wire in wires:
            stack.push_async_exit(wire)
        await until(lambda: len(site.server.server_state.connections) == 1_000)
        await asyncio.gather(*(wire.send(GET) for wire in wires[1::2]))
        answers = await asyncio.gather(*(wire.answer() for wire in wires[1::2]))
        answer = await site.exchange(post())
        rest = await wires[0].rest()

    assert {answered.status for answered in answers} == {200}
    assert answer.status == 200
    assert rest == b""


async def test_connections_at_work_are_told_of_and_health_is_answered() -> None:
    """Where nobody makes room a request is refused in the API's shape, and the connection ends; health goes on."""
    gate = asyncio.Event()
    backend = FakeBackend(gate=gate)
    async with open_site(backend, max_connections=2) as site, AsyncExitStack() as stack:
        busy = [await stack.enter_async_context(await site.connect()) for _ in range(2)]
        for wire in busy:
            await wire.send(post())
        await until(lambda: len(backend.requests) == 2)
        refused, health, head = [
            await site.exchange(data) for data in (post(), GET, b"GET /v1/models HTTP/1.1\r\nhost: localhost\r\n\r\n")
        ]
        gate.set()
        answered = [await wire.answer() for wire in busy]
        later = await site.exchange(post())

    assert (refused.status, refused.code, refused.headers["retry-after"]) == (503, "too_many_connections", "1")
    assert refused.headers["x-request-id"].startswith("req-")
    assert (health.status, head.status) == (200, 503)
    assert [answer.headers.get("connection") for answer in (refused, health, head)] == ["close"] * 3
    assert [answer.status for answer in answered] == [200, 200]
    assert later.status == 200


async def test_burst_beyond_the_limit_is_told() -> None:
    """As many at once as the reserve holds: none of them makes room for another before it was heard."""
    gate = asyncio.Event()
    backend = FakeBackend(gate=gate)
    async with open_site(backend, max_connections=1) as site, await site.connect() as busy:
        await busy.send(post())
        await until(lambda: bool(backend.requests))
        answers = await asyncio.gather(*(site.exchange(post()) for _ in range(RESERVE)))
        gate.set()
        answered = await busy.answer()

    assert {answer.code for answer in answers} == {"too_many_connections"}
    assert answered.status == 200
