"""Behaviour of `unmask.cluster.engine_host`."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace

from tests.replicas.prompts import make_request
from unmask.backend import Event, Request, StepEvent
from unmask.cluster.call import make_call
from unmask.cluster.engine_host import EngineHost
from unmask.testing.fake_backend import FakeBackend, tell_left
from unmask.testing.manual_clock import ManualClock
from unmask.testing.waiting import until


class Lingering(FakeBackend):
    """An engine that needs a while to say what an aborted request took."""

    def __init__(self) -> None:
        super().__init__()
        self.may_tell = asyncio.Event()
        self.is_closing = False

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        """Take one step, then wait until it is left."""
        try:
            yield StepEvent(canvas=0, step=1, max_steps=8, pieces=())
            await asyncio.Event().wait()
        finally:
            self.is_closing = True
            await self.may_tell.wait()
            tell_left(request, 1)


async def test_two_aborts_of_one_call_tell_the_same() -> None:
    """A gateway's word and the end of its stream come together; neither cuts short what the other waits for."""
    backend = Lingering()
    host = EngineHost(backend, ManualClock(50.0), "start")
    call = make_call(replace(make_request("안녕"), left=lambda _: None), 0.0)
    events = host.stream("1", call)
    await anext(events)
    first = asyncio.create_task(host.abort("1"))
    await until(lambda: backend.is_closing)
    second = asyncio.create_task(host.abort("1"))
    await asyncio.sleep(0)
    backend.may_tell.set()
    took = await asyncio.gather(first, second)

    assert took[0] is not None
    assert took[0] == took[1]
    assert took[0].usage.steps_used == 1
    assert await anext(events, None) is None


async def test_an_unknown_call_is_not_aborted() -> None:
    """One that has ended, or never came, took nothing that is told."""
    assert await EngineHost(FakeBackend(), ManualClock(), "start").abort("없음") is None
