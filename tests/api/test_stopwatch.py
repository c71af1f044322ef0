"""Behaviour of `unmask.api.stopwatch`, `unmask.api.arrival` and the header that tells of them."""

from collections.abc import AsyncGenerator

import pytest

from tests.api.calls import CHAT_CALLS, app_of, make_call, make_control
from tests.api.client import client_of
from unmask.api.call import Delivery
from unmask.api.running import Running
from unmask.api.serving import Serving
from unmask.api.stopwatch import Stopwatch
from unmask.backend import Event, Generation, Request
from unmask.control.accounts import Accounts
from unmask.control.caller import Caller
from unmask.ledger.owner import Owner
from unmask.testing.fake_backend import FakeBackend
from unmask.testing.manual_clock import ManualClock
from unmask.types import Verification


def test_time_at_the_backend_does_not_count() -> None:
    """What counts is the time before the hand-over, and since the backend last said something."""
    clock = ManualClock(100)
    watch = Stopwatch(clock, 99)
    seen = []
    for seconds, happens in ((1, watch.hand_over), (10, watch.come_back), (20, watch.come_back), (4, lambda: None)):
        clock.advance(seconds)
        happens()
        seen.append(watch.overhead_s())

    assert seen == [2, 2, 2, 6]


class Slow(FakeBackend):
    """A backend on whose clock a generation takes a hundred seconds, and each event of a stream ten."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__()
        self._clock = clock

    async def generate(self, request: Request) -> Generation:
        """Take a hundred seconds."""
        self._clock.advance(100)
        return await super().generate(request)

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        """Take ten seconds for every event."""
        async for event in super().stream(request):
            self._clock.advance(10)
            yield event


class SlowFormat:
    """A format that takes two seconds to verify."""

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock

    def verify(self, text: str) -> Verification:
        """Take two seconds."""
        self._clock.advance(2)
        return Verification.PASS


@pytest.mark.parametrize(
    ("delivery", "overhead"),
    [(Delivery.WHOLE, "2000.000"), (Delivery.COMMITTED, "0.000"), (Delivery.SNAPSHOTS, "0.000")],
)
async def test_overhead_is_time_outside_the_backend(delivery: Delivery, overhead: str) -> None:
    """An answer says what was spent before and after its generations; a stream only what came before its headers.

    What is verified while another choice is being generated holds nothing up.
    """
    clock = ManualClock()
    call = make_call(["a", "b"], delivery=delivery, answer_format=SlowFormat(clock))
    async with client_of(app_of(Slow(clock), call, clock=clock)) as client:
        response = await client.post(CHAT_CALLS, json={})

    assert response.headers["x-unmask-overhead-ms"] == overhead


async def test_time_after_an_event_of_a_stream_counts() -> None:
    """What passes between the first event and the headers is the server's."""
    clock = ManualClock()
    call = make_call(delivery=Delivery.COMMITTED)
    serving = Serving(
        call=call,
        backend=FakeBackend(),
        running=Running(1),
        control=make_control(),
        request_id="req-1",
        stopwatch=Stopwatch(clock, 0),
        account=Accounts().account(Caller(owner=Owner(tenant="acme")), call.admitted),
    )
    clock.advance(1)
    async with serving.stream() as buffer:
        clock.advance(10)
        await buffer.wait(60)
        clock.advance(2)

        assert serving.stopwatch.overhead_s() == 3


async def test_overhead_begins_with_the_arrival() -> None:
    """Reading the body is part of it."""
    clock = ManualClock()

    async def body() -> AsyncGenerator[bytes, None]:
        clock.advance(0.25)
        yield b"{}"

    for delivery in Delivery:
        async with client_of(app_of(FakeBackend(), make_call(delivery=delivery), clock=clock)) as client:
            response = await client.post(CHAT_CALLS, content=body())

        assert response.headers["x-unmask-overhead-ms"] == "250.000"
