"""The metrics of a server over real sockets."""

import asyncio

from tests.app.site import BODY, CHAT, Site, open_site
from tests.metrics.reading import Series, parse
from unmask.testing.fake_backend import FakeBackend
from unmask.testing.waiting import until


async def scrape(running: Site) -> Series:
    """Read the metrics."""
    return parse((await running.client.get("/metrics")).text)


async def test_only_who_hangs_up_is_a_disconnect() -> None:
    """Requests one after the other on one connection are none; closing it while one runs is."""
    gate = asyncio.Event()
    gate.set()
    backend = FakeBackend(gate=gate)
    async with open_site(backend) as running:
        for _ in range(3):
            assert (await running.client.post(CHAT, json=BODY)).status_code == 200
        served = await scrape(running)
        gate.clear()
        pending = asyncio.create_task(running.client.post(CHAT, json=BODY))
        await until(lambda: len(backend.requests) == 4)
        pending.cancel()
        await until(lambda: bool(backend.aborted))
        left = await scrape(running)
        await running.stop()

    disconnects = f"unmask_disconnects_total{{endpoint={CHAT}}}"
    assert served[f"unmask_requests_total{{endpoint={CHAT},status=200}}"] == 3
    assert disconnects not in served
    assert left[disconnects] == 1
    assert left["unmask_generations_total{model=tiny,outcome=aborted}"] == 1
    assert left["unmask_requests_open"] == left["unmask_requests_running{model=tiny}"] == 0


async def test_draining_server_is_scraped() -> None:
    """While what runs is finished, the metrics say that the server drains and what still runs."""
    gate = asyncio.Event()
    backend = FakeBackend(gate=gate)
    async with open_site(backend) as running:
        pending = asyncio.create_task(running.client.post(CHAT, json=BODY))
        await until(lambda: bool(backend.requests))
        running.server.stop()
        await asyncio.sleep(0.01)
        found = await scrape(running)
        gate.set()
        assert (await pending).status_code == 200
        await running.serving

    assert (found["unmask_draining"], found["unmask_requests_open"]) == (1, 1)
