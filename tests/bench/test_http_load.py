"""Behaviour of `unmask.bench.http_load`, over real sockets."""

import asyncio
from random import Random

import pytest

from tests.app.site import BODY, CHAT, Site, open_site
from unmask.app.serve import fast_loop
from unmask.bench.http_load import Callers, Load, Place, http_request
from unmask.clock import SystemClock
from unmask.errors import UnmaskError
from unmask.testing.fake_backend import FakeBackend
from unmask.testing.waiting import until

BYTES = b'{"model": "tiny", "messages": [{"role": "user", "content": "add 1 + 1"}]}'


def callers_of(site: Site, body: bytes = BYTES) -> Callers:
    """Return connections to a server."""
    host, port = site.listener.getsockname()[:2]
    return Callers(Place(host=host, port=port, request=http_request("localhost", CHAT, body)), SystemClock())


async def test_so_many_ask_at_once_and_each_is_answered() -> None:
    """No more connections than callers, and every request is measured."""
    backend = FakeBackend()
    async with open_site(backend) as site:
        callers = callers_of(site)
        load = await callers.at_once(4, 30)
        callers.close()

    assert len(load.latencies) == len(backend.requests) == 30
    assert len(callers._all) == 4
    assert 0 < min(load.latencies) <= max(load.latencies) <= load.seconds


def test_other_event_loops_do_as_well() -> None:
    """The bench runs over the fastest there is, whose transports are of no class of asyncio's."""
    with asyncio.Runner(loop_factory=fast_loop()) as runner:
        runner.run(test_so_many_ask_at_once_and_each_is_answered())


async def test_requests_at_a_rate_do_not_wait_for_answers() -> None:
    """A server that answers none until all have been sent is sent all: over as many connections."""
    gate = asyncio.Event()
    backend = FakeBackend(gate=gate)
    async with open_site(backend) as site:
        callers = callers_of(site)
        task = asyncio.create_task(callers.at_rate(1_000.0, 8, Random(0)))
        await until(lambda: len(backend.requests) == 8)
        gate.set()
        load = await task
        callers.close()

    assert isinstance(load, Load)
    assert len(load.latencies) == len(callers._all) == 8


async def test_connections_that_the_server_closed_while_idle_are_made_anew() -> None:
    """A server hangs up on idle connections, as between two rounds of a bench: the next round asks over new ones."""
    async with open_site(FakeBackend()) as site:
        callers = callers_of(site)
        await callers.at_once(2, 4)
        for caller in callers._all:
            caller.close()
        await until(lambda: not any(caller.is_open for caller in callers._all))
        load = await callers.at_once(2, 4)
        callers.close()

    assert len(load.latencies) == 4
    assert len(callers._all) == 4


async def test_what_is_not_answered_well_ends_the_bench() -> None:
    """Latencies of refusals are nobody's figures."""
    async with open_site() as site:
        callers = callers_of(site, b'{"model": "none of them"}')
        with pytest.raises(UnmaskError, match=r"answered.*404|answered.*400"):
            await callers.at_once(1, 1)
        callers.close()


async def test_a_server_that_hangs_up_ends_the_bench() -> None:
    """Nothing is waited for that cannot come."""
    backend = FakeBackend(gate=asyncio.Event())
    async with open_site(backend, drain_s=0.0) as site:
        callers = callers_of(site)
        task = asyncio.create_task(callers.at_once(1, 1))
        await until(lambda: bool(backend.requests))
        for caller in callers._all:
            caller.close()
        with pytest.raises(UnmaskError, match="closed"):
            await task


def test_request_is_what_a_client_sends() -> None:
    """With its length, and a body as it was given."""
    sent = http_request("localhost", CHAT, BYTES)

    assert sent.startswith(b"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\n")
    assert b"content-length: %d\r\n\r\n" % len(BYTES) in sent
    assert sent.endswith(BYTES)
    assert BODY["model"] == "tiny"
