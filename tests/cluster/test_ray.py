"""A deployment on a real Ray cluster of several processes, with its ledger in PostgreSQL."""

import asyncio
import os
import re
import signal
import socket
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from unmask.clock import SystemClock
from unmask.cluster.errors import DeployError
from unmask.config import Settings
from unmask.errors import NoCapacityError
from unmask.testing.postgres import PostgresServer, postgres_server

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

BODY = {"model": "nano", "messages": [{"role": "user", "content": "add 12 + 30"}]}
CHAT = "/v1/chat/completions"
LONGEST_S = 120.0


@pytest.fixture(scope="module")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL of our own."""
    with postgres_server() as server:
        yield server


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A Ray cluster of this machine, with two processors to give away."""
    import ray

    # Its processes inherit this, and import what the test does.
    source = str(Path(__file__).parents[2] / "src")
    before = dict(os.environ)
    os.environ |= {
        "PYTHONPATH": source,
        "XDG_STATE_HOME": str(tmp_path_factory.mktemp("state")),
        "RAY_USAGE_STATS_ENABLED": "0",
    }
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        object_store_memory=100_000_000,
        log_to_driver=False,
        namespace="unmask",
    )
    try:
        yield
    finally:
        ray.shutdown()
        os.environ.clear()
        os.environ.update(before)


@pytest.fixture(scope="module")
def settings(postgres: PostgresServer) -> Settings:
    """Two small engines and a gateway."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    return Settings(
        port=port,
        models=("nano",),
        replicas=2,
        page_pool_tokens=8_192,
        max_rows=4,
        database=postgres.database("cluster").render_as_string(hide_password=False).replace("+psycopg", ""),
        cluster_replica_cpus=0.5,
        cluster_gateway_cpus=0.5,
        # Processes take minutes to import what they need where others keep the machine busy.
        cluster_start_s=400,
    )


@pytest.fixture(scope="module")
def deployed(cluster: None, settings: Settings) -> Iterator[Settings]:
    """The deployment, taken down at the end."""
    from unmask.cluster.ray_actors import actor_names
    from unmask.cluster.ray_deploy import bring_up, take_down

    said: list[str] = []
    bring_up("auto", settings, said.append)
    yield settings
    take_down("auto", settings, said.append)
    assert actor_names() == ()


def client_of(settings: Settings) -> httpx.AsyncClient:
    """Return a client of the gateways."""
    return httpx.AsyncClient(base_url=f"http://127.0.0.1:{settings.port}", timeout=LONGEST_S)


async def engine(number: int, role: str = "engine") -> Any:  # noqa: ANN401 - a handle
    """Return an engine's actor."""
    import ray

    from unmask.cluster.ray_actors import actor_names

    (name,) = (name for name in actor_names() if name.endswith(f"-{role}-{number}"))
    return ray.get_actor(name, "unmask")


async def health_until(client: httpx.AsyncClient, holds: Any) -> dict[str, Any]:  # noqa: ANN401 - a function
    """Ask for health until it is as wanted."""
    async with asyncio.timeout(LONGEST_S):
        while not holds(found := (await client.get("/health")).json()):  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.1)
    return dict(found)


def booked(settings: Settings) -> Counter[str]:
    """Return how many requests ended in which outcome, once the books are proved."""
    from sqlalchemy import text

    from unmask.database.engine import open_database
    from unmask.database.place import database_url
    from unmask.database.transactions import reading
    from unmask.ledger.verify import verify_ledger

    database = open_database(database_url(settings.database, {}), durability=settings.durability)
    try:
        with reading(database) as connection:
            assert verify_ledger(connection).faults == ()
            rows = connection.execute(text("SELECT ending FROM ledger_end")).all()
    finally:
        database.dispose()
    return Counter(row[0] for row in rows)


async def test_a_replica_killed_under_load_loses_and_doubles_nothing(deployed: Settings) -> None:
    """Its process is killed with -9 among sixty requests: each is answered once or refused, and booked as it was."""
    before, is_killed = booked(deployed), asyncio.Event()
    async with client_of(deployed) as client:

        async def ask_on(number: int) -> list[httpx.Response]:
            # However fast they are answered, there are as many when the process is killed.
            body = BODY | {"messages": [{"role": "user", "content": f"add {number} + 30"}]}
            answers = [await client.post(CHAT, json=body)]
            while not is_killed.is_set():
                answers.append(await client.post(CHAT, json=body))
            return answers

        async with asyncio.TaskGroup() as group:
            calls = [group.create_task(ask_on(number)) for number in range(60)]
            await health_until(client, lambda found: all(one["running"] for one in found["replicas"]))
            os.kill(await (await engine(1)).pid.remote(), signal.SIGKILL)
            is_killed.set()
        answers = [answer for call in calls for answer in call.result()]
        found = await health_until(client, lambda one: [r["problem"] for r in one["replicas"]] == [None, None])

    statuses = Counter(answer.status_code for answer in answers)
    assert set(statuses) <= {200, 503}
    assert statuses[503] <= 10
    assert all(answer.json()["choices"][0]["message"]["content"] for answer in answers if answer.status_code == 200)
    assert (booked(deployed) - before)["completed"] == statuses[200]
    assert found["ready"]


async def test_clients_that_leave_end_their_calls(deployed: Settings) -> None:
    """The engines run nothing once nobody waits, and most of what was left before it had begun is booked as aborted."""
    before = booked(deployed)
    body = BODY | {"stream": True, "diffusion": {"stream": "snapshots", "max_steps": 32}}

    async def leave(client: httpx.AsyncClient) -> None:
        async with client.stream("POST", CHAT, json=body) as answer:
            assert answer.status_code == 200
            async for _ in answer.aiter_bytes():
                return

    async with client_of(deployed) as client:
        await asyncio.gather(*(leave(client) for _ in range(24)))
        await health_until(client, lambda found: not any(one["running"] for one in found["replicas"]))
    async with asyncio.timeout(LONGEST_S):
        while (booked(deployed) - before).total() < 24:  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.1)

    assert (booked(deployed) - before)["aborted"] >= 12


async def test_another_deployment_takes_the_place_of_one(deployed: Settings) -> None:
    """Requests go on while engines and gateways are replaced, and the earlier engines end."""
    from unmask.cluster.ray_actors import actor_names
    from unmask.cluster.ray_deploy import bring_up

    earlier = set(actor_names())
    said: list[str] = []
    smaller = replace(deployed, replicas=1, cluster_most_replicas=2)
    async with client_of(deployed) as client:
        replacing = asyncio.create_task(asyncio.to_thread(bring_up, "auto", smaller, said.append))
        statuses = []
        while not replacing.done():
            statuses.append((await client.post(CHAT, json=BODY)).status_code)
        await replacing
        statuses.append((await client.post(CHAT, json=BODY)).status_code)

    assert statuses[-1] == 200
    assert Counter(statuses)[200] >= 0.9 * len(statuses)
    assert not earlier & set(actor_names())


def test_a_cluster_without_room_is_refused(deployed: Settings) -> None:
    """What can never fit at once, and what does not fit now after a while; what runs is not touched."""
    from unmask.cluster.ray_actors import actor_names
    from unmask.cluster.ray_deploy import bring_up

    before, clock = set(actor_names()), SystemClock()
    with pytest.raises(NoCapacityError, match=r"has 2 CPUs and 8\.5 are needed"):
        bring_up("auto", replace(deployed, replicas=2, cluster_replica_cpus=4), print)
    started = clock.now()
    with pytest.raises(DeployError, match="no engine replica has started within 3 s"):
        bring_up("auto", replace(deployed, replicas=1, cluster_replica_cpus=1.5, cluster_start_s=3), print)

    assert clock.now() - started < LONGEST_S
    assert set(actor_names()) == before


async def prefilled(client: httpx.AsyncClient) -> Counter[str]:
    """Return how many prompts that were to be run on a prefill replica ended how."""
    found = re.findall(r'unmask_prefill_prompts_total\{.*result="(\w+)"\} (\d+)', (await client.get("/metrics")).text)
    return +Counter({result: int(count) for result, count in found})


async def test_a_prefill_replica_killed_under_load_loses_no_request(deployed: Settings) -> None:
    """Killed with -9 among sixty long prompts: all are answered as without pools, and each prompt is booked once."""
    from unmask.cluster.ray_deploy import bring_up

    texts = [f"{number} + 30. 김치찌개와 된장찌개 가운데 하나를 고르세요. add {number} + 7" for number in range(60)]
    asked = [BODY | {"messages": [{"role": "user", "content": text}], "max_tokens": 16} for text in texts]
    # On a machine with nothing else to do all those before may be through when the replica is killed.
    early, late = asked[1:40], asked[40:]
    said: list[str] = []
    async with client_of(deployed) as client:
        alone = await asyncio.gather(*(client.post(CHAT, json=body) for body in asked))
        pools = replace(deployed, replicas=1, cluster_replica_cpus=0.25, cluster_prefill_replicas=1)
        await asyncio.to_thread(bring_up, "auto", replace(pools, cluster_prefill_tokens=48), said.append)
        before = booked(deployed)
        first = await client.post(CHAT, json=asked[0])
        calls = [asyncio.create_task(client.post(CHAT, json=body)) for body in early]
        async with asyncio.timeout(LONGEST_S):
            while (await prefilled(client))["taken"] < 3:  # noqa: ASYNC110 - another process
                await asyncio.sleep(0.1)
        os.kill(await (await engine(1, "prefill")).pid.remote(), signal.SIGKILL)
        calls += [asyncio.create_task(client.post(CHAT, json=body)) for body in late]
        answers = [first, *await asyncio.gather(*calls)]
        async with asyncio.timeout(LONGEST_S):
            while (await prefilled(client)).total() < len(asked):  # noqa: ASYNC110 - another process
                await asyncio.sleep(0.1)
        ends = await prefilled(client)

    assert "1 of 1 prefill replicas run" in said
    assert {answer.status_code for answer in (*alone, *answers)} == {200}
    bodies = [[answer.json() for answer in each] for each in (alone, answers)]
    contents = [[body["choices"][0]["message"]["content"] for body in each] for each in bodies]
    assert contents[0] == contents[1]
    assert first.json()["usage"]["prompt_tokens_details"]["cached_tokens"] == 0
    assert ends["taken"] >= 3
    assert ends["lost"] + ends["no_replica"] >= 1
    assert (booked(deployed) - before)["completed"] == len(asked)
