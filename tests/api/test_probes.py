"""Behaviour of ``/health``, its parts, and the address of ``/metrics``."""

import asyncio
from dataclasses import replace

import httpx
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics

from tests.api.client import CHAT, chat_body, client_of, make_app
from tests.metrics.reading import parse
from unmask.api.running import Running
from unmask.control.parts import ControlParts
from unmask.control.sources import no_policy
from unmask.load import EngineState
from unmask.metrics.exposition import OPENMETRICS, TEXT
from unmask.routing import ReplicaLoad
from unmask.service import ClassWork
from unmask.testing.builders import make_model
from unmask.testing.fake_backend import IDLE_QUEUE, FakeBackend
from unmask.testing.ledgers import MemoryLedger
from unmask.testing.waiting import until
from unmask.types import Bucket
from unmask.work import PageAlert

PROBES = ("/health", "/health/ready", "/health/live")
NOTES = [no_policy(name) for name in ("tiny", "nano")]
AT_EASE = {"degraded": [], "notes": NOTES, "replicas": []}
STOPPED = ("engine of tiny has stopped",)


async def probe(client: httpx.AsyncClient) -> tuple[list[int], dict[str, object]]:
    """Return the statuses of the three probes, and the body that is the same for all."""
    responses = [await client.get(path) for path in PROBES]
    bodies = [response.json() for response in responses]
    assert bodies[0] == bodies[1] == bodies[2]
    return [response.status_code for response in responses], bodies[0]


async def test_server_that_serves_is_live_and_ready() -> None:
    """All three say so."""
    async with client_of(make_app()) as client:
        assert await probe(client) == ([200, 200, 200], {"live": True, "ready": True, "reasons": [], **AT_EASE})


async def test_each_replica_is_told_of() -> None:
    """A lost one keeps nobody out while another is well."""
    well = ReplicaLoad(name="1", problem=None, running=2, waiting=1, prompt_tokens=8, cached_tokens=2)
    lost = ReplicaLoad(name="2", problem="its engine is stopped", running=0, waiting=0)
    async with client_of(make_app(FakeBackend(models=(make_model(),), replicas=(well, lost)))) as client:
        statuses, body = await probe(client)

    assert statuses == [200, 200, 200]
    assert body["replicas"] == [
        {"model": "tiny", "name": "1", "running": 2, "waiting": 1, "prefix_hit_rate": 0.25, "problem": None},
        {
            "model": "tiny",
            "name": "2",
            "running": 0,
            "waiting": 0,
            "prefix_hit_rate": None,
            "problem": "its engine is stopped",
        },
    ]


async def test_draining_server_is_live_and_not_ready() -> None:
    """Nothing new is to be sent there, and nobody is to kill it before it has finished."""
    running = Running(1)
    async with client_of(make_app(running=running)) as client:
        running.begin_drain()
        found = await probe(client)

    assert found == ([503, 503, 200], {"live": True, "ready": False, "reasons": ["draining"], **AT_EASE})


async def test_server_whose_ledger_cannot_be_written_is_live_and_not_ready() -> None:
    """It would answer nothing, and is ready again as soon as something can be booked."""
    ledger = MemoryLedger()
    async with client_of(make_app(parts=ControlParts(ledger=ledger))) as client:
        ledger.fails = True
        found = await probe(client)
        ledger.fails = False
        after = await probe(client)

    reasons = ["the ledger cannot be written"]
    assert found == ([503, 503, 200], {"live": True, "ready": False, "reasons": reasons, **AT_EASE})
    assert after[0] == [200, 200, 200]


async def test_full_server_is_live_and_ready_again_later() -> None:
    """While every place is taken requests are better sent elsewhere; the reason goes with its cause."""
    backend = FakeBackend(gate=asyncio.Event())
    assert backend._gate is not None
    async with client_of(make_app(backend, running=Running(1))) as client:
        call = asyncio.create_task(client.post(CHAT, json=chat_body()))
        await until(lambda: bool(backend.requests))
        full = await probe(client)
        backend._gate.set()
        await call
        after = await probe(client)

    assert full == ([503, 503, 200], {"live": True, "ready": False, "reasons": ["queue full"], **AT_EASE})
    assert after[0] == [200, 200, 200]


@pytest.mark.parametrize("state", [EngineState.STUCK, EngineState.STOPPED])
async def test_engine_that_does_not_mend_itself_is_not_live(state: EngineState) -> None:
    """Only a restart helps, so whoever restarts servers is told."""
    async with client_of(make_app(FakeBackend(state=state, problems=STOPPED))) as client:
        found = await probe(client)

    assert found == ([503, 503, 503], {"live": False, "ready": False, "reasons": list(STOPPED), **AT_EASE})


async def test_trouble_that_is_not_the_engines_leaves_the_server_live() -> None:
    """What keeps the backend from serving is no reason to restart unless an engine is at fault."""
    async with client_of(make_app(FakeBackend(problems=("pool of elsewhere is unreachable",)))) as client:
        statuses, body = await probe(client)

    assert statuses == [503, 503, 200]
    assert body["reasons"] == ["pool of elsewhere is unreachable"]


async def test_engine_that_stopped_with_the_drain_is_no_reason_to_kill() -> None:
    """At the end of a drain the engines have stopped because they were told to."""
    running = Running(1)
    running.begin_drain()
    backend = FakeBackend(state=EngineState.STOPPED, problems=STOPPED)
    async with client_of(make_app(backend, running=running)) as client:
        statuses, body = await probe(client)

    assert statuses == [503, 503, 200]
    assert body["reasons"] == ["draining", *STOPPED]


async def test_metrics_come_in_the_format_that_is_asked_for() -> None:
    """Prometheus text unless the reader asks for OpenMetrics, each under its own content type."""
    async with client_of(make_app()) as client:
        text = await client.get("/metrics")
        openmetrics = await client.get("/metrics", headers={"accept": "application/openmetrics-text;version=1.0.0"})
        odd = await client.get("/metrics", headers={"accept": "application/openmetrics-text;version=x"})

    families = parse_openmetrics(openmetrics.text)  # type: ignore[no-untyped-call] # the library has no types for it
    assert [text.headers["content-type"], openmetrics.headers["content-type"]] == [TEXT, OPENMETRICS]
    assert "unmask_requests_running{model=tiny}" in parse(text.text)
    assert "unmask_requests_running" in {family.name for family in families}
    assert (odd.status_code, odd.headers["content-type"]) == (200, TEXT)


async def test_metrics_are_written_while_nothing_is_served() -> None:
    """A server that drains with a dead engine is the one that people want to look at."""
    running = Running(1)
    running.begin_drain()
    backend = FakeBackend(state=EngineState.STOPPED, problems=STOPPED)
    async with client_of(make_app(backend, running=running)) as client:
        response = await client.get("/metrics")

    found = parse(response.text)
    assert response.status_code == 200
    assert (found["unmask_draining"], found["unmask_engine_up{model=tiny}"]) == (1, 0)


async def test_two_applications_count_apart() -> None:
    """Nothing is shared within a process."""
    first, second = make_app(), make_app()
    async with client_of(first) as client:
        await client.post(CHAT, json=chat_body())
    async with client_of(second) as client:
        found = parse((await client.get("/metrics")).text)

    assert found["unmask_generations_total{model=tiny,outcome=completed}"] == 0
    assert [name for name in found if name.startswith("unmask_requests_total")] == []


async def test_a_queue_that_falls_behind_is_noted_and_keeps_no_request_out() -> None:
    """Its class and bucket, how long somebody has waited there, and how long they should at most."""
    queues = (
        replace(IDLE_QUEUE, service_class="batch", bucket=Bucket.L, waiting=3, oldest_s=90.0),
        replace(IDLE_QUEUE, service_class="interactive", bucket=Bucket.S, waiting=3, oldest_s=1.0),
    )
    models = (make_model("tiny"),)
    async with client_of(make_app(FakeBackend(models=models, queues=queues))) as client:
        statuses, body = await probe(client)

    assert statuses == [200, 200, 200]
    assert body["notes"] == [
        no_policy("tiny"),
        "tiny: requests of class batch, bucket L have waited 90 s, and 60 s is as long as they should",
    ]


async def test_pages_that_run_out_are_said_and_keep_no_request_out() -> None:
    """How many of how many, and whether anybody waits."""
    backend = FakeBackend(models=(make_model("tiny"),), page_alert=PageAlert.CRITICAL)
    async with client_of(make_app(backend)) as client:
        statuses, body = await probe(client)

    assert statuses == [200, 200, 200]
    assert body["degraded"] == ["tiny: 0 of 64 KV pages are in use (critical); 0 requests wait"]


async def test_quality_that_load_takes_is_said_and_counted() -> None:
    """By model; the level of requests that are yet to come is that of the moment."""
    work = ClassWork(service_class="", forwards=100.0, drain_s=90.0, slack_s=60.0)
    async with client_of(make_app(FakeBackend(works=(work,)))) as client:
        await client.post(CHAT, json=chat_body())
        _, body = await probe(client)
        found = parse((await client.get("/metrics")).text)

    assert body["degraded"] == [
        "tiny: quality level 1 under load; its work now takes 1.50 times as long as requests may wait"
    ]
    ours = {name: value for name, value in found.items() if name.startswith("unmask_quality") and value}
    assert ours == {
        "unmask_quality_level{model=tiny,service_class=none}": 1,
        "unmask_quality_floor{model=tiny,service_class=none}": 3,
        "unmask_quality_pressure_ratio{model=tiny,service_class=none}": 1.5,
        "unmask_quality_changes_total{direction=down,model=tiny,service_class=none}": 1,
        "unmask_quality_requests_total{level=1,model=tiny,service_class=none}": 1,
    }
