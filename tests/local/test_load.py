"""What our engine says of its load, also while it is busy, stuck or dead, and what the server makes of it."""

import asyncio
import logging
import threading
from dataclasses import replace

import pytest

from tests.api.client import client_of, make_app
from tests.local.test_backend import REQUEST, SETTINGS, served
from tests.metrics.reading import Series, parse
from unmask.errors import NoCapacityError
from unmask.load import EngineState
from unmask.local.backend import LocalBackend
from unmask.plan import Plan, RowResult
from unmask.testing.builders import make_model
from unmask.testing.fake_engine import FakeEngine
from unmask.testing.manual_clock import ManualClock
from unmask.testing.waiting import until
from unmask.types import StepBudget

ENDLESS = replace(REQUEST, budget=StepBudget(max_steps=10**9))
PATIENCE_S = 10.0


class Held(FakeEngine):
    """An engine whose forwards wait until they are let go."""

    def __init__(self) -> None:
        super().__init__()
        self.inside = threading.Event()
        self.go = threading.Event()

    def run(self, plan: Plan) -> tuple[RowResult, ...]:
        """Wait, then fill the canvases."""
        self.inside.set()
        assert self.go.wait(PATIENCE_S)
        return super().run(plan)


async def scrape(backend: LocalBackend) -> Series:
    """Return the metrics that a server over a backend shows."""
    async with client_of(make_app(backend)) as client:
        return parse((await client.get("/metrics")).text)


async def health(backend: LocalBackend) -> tuple[int, int, list[str]]:
    """Return whether a server over a backend says that it is live, that it is ready, and why not."""
    async with client_of(make_app(backend)) as client:
        live, ready = await client.get("/health/live"), await client.get("/health/ready")
    return live.status_code, ready.status_code, ready.json()["reasons"]


async def test_load_of_each_model_is_its_own() -> None:
    """Sizes are those of the settings; what runs is told per model, and is gone with its end."""
    busy = replace(served(FakeEngine(), "tiny"), info=make_model("tiny", max_steps=10**9))
    backend = LocalBackend((busy, served(FakeEngine(), "nano")))
    call = asyncio.ensure_future(backend.generate(ENDLESS))
    await until(lambda: backend.load()[0].steps > 3)
    tiny, nano = backend.load()
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    await until(lambda: backend.load()[0].running == 0)
    after = backend.load()[0]
    await backend.drain()

    assert (tiny.model, tiny.state, tiny.running, tiny.waiting) == ("tiny", EngineState.RUNNING, 1, 0)
    assert (tiny.kv_pages, tiny.page_tokens, tiny.max_running) == (128, 8, SETTINGS.max_rows)
    assert tiny.kv_pages_used > 0
    assert tiny.kv_usage == tiny.kv_pages_used / 128
    assert (nano.model, nano.running, nano.kv_pages_used, nano.steps) == ("nano", 0, 0, 0)
    assert (after.kv_pages_used, after.kv_usage) == (0, 0)
    assert after.steps >= tiny.steps


async def test_metrics_are_written_while_the_engine_is_inside_a_forward() -> None:
    """A scrape waits for no tick, and shows what came before it."""
    engine = Held()
    backend = LocalBackend((served(engine),))
    call = asyncio.ensure_future(backend.generate(REQUEST))
    await asyncio.to_thread(engine.inside.wait, PATIENCE_S)
    during = await scrape(backend)
    engine.go.set()
    await call
    after = await scrape(backend)
    await backend.drain()

    assert during["unmask_requests_waiting{model=tiny}"] == during["vllm:num_requests_waiting"] == 1
    assert during["unmask_engine_steps_total{model=tiny}"] == 0
    assert after["unmask_engine_steps_total{model=tiny}"] > 0
    for name in ("requests_running", "requests_waiting", "kv_pages_used", "kv_usage_ratio"):
        assert after[f"unmask_{name}{{model=tiny}}"] == 0


async def test_engine_without_a_finished_tick_is_stuck_until_there_is_one() -> None:
    """Past the limit the server is not live and takes nothing for the model; a tick that does end puts it right."""
    engine, clock = Held(), ManualClock()
    backend = LocalBackend((served(engine, clock=clock),), stuck_s=60)
    clock.advance(3600)
    idle = await health(backend)
    call = asyncio.ensure_future(backend.generate(REQUEST))
    await asyncio.to_thread(engine.inside.wait, PATIENCE_S)
    clock.advance(60)
    patient = await health(backend)
    clock.advance(1)
    stuck = await health(backend)
    metrics = await scrape(backend)
    with pytest.raises(NoCapacityError, match="engine of tiny is stuck"):
        await backend.generate(REQUEST)
    engine.go.set()
    await call
    mended = await health(backend)
    await backend.drain()

    assert idle == patient == mended == (200, 200, [])
    assert stuck == (503, 503, ["engine of tiny is stuck: it has work and has finished no tick for 60 s"])
    assert metrics["unmask_engine_up{model=tiny}"] == 0


async def test_dead_engine_is_told_and_its_metrics_remain(caplog: pytest.LogCaptureFixture) -> None:
    """A thread that died serves nobody; what it did is still on show, and nothing runs on it."""
    caplog.set_level(logging.CRITICAL)
    engine = FakeEngine()
    backend = LocalBackend((served(engine),))
    await backend.generate(REQUEST)
    engine.error = SystemExit("broken")
    await backend.generate(REQUEST)
    await until(lambda: bool(backend.problems()))
    found = await scrape(backend)

    assert await health(backend) == (503, 503, ["engine of tiny has stopped"])
    assert found["unmask_engine_up{model=tiny}"] == 0
    assert found["unmask_requests_running{model=tiny}"] == found["unmask_kv_pages_used{model=tiny}"] == 0
    assert found["unmask_engine_steps_total{model=tiny}"] > 0


async def test_many_requests_leave_nothing_behind() -> None:
    """Completed and abandoned side by side: once all have ended, nothing runs, waits or holds a page."""
    busy = replace(served(FakeEngine()), info=make_model(max_steps=10**9))
    backend = LocalBackend((busy,))
    endless = [asyncio.ensure_future(backend.generate(ENDLESS)) for _ in range(SETTINGS.max_rows + 4)]
    await until(lambda: backend.load()[0].running > 0)
    for call in endless:
        call.cancel()
    await asyncio.gather(*endless, return_exceptions=True)
    await asyncio.gather(*(backend.generate(REQUEST) for _ in range(20)))
    await until(lambda: backend.load()[0].running == 0)
    load = backend.load()[0]
    await backend.drain()

    assert (load.running, load.waiting, load.kv_pages_used) == (0, 0, 0)
