"""The promise of the ledger kept by a real server that is killed, or told to stop, under load."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from pathlib import Path
from random import Random

import httpx
import pytest
from sqlalchemy import URL

from tests.app.site import BODY, CHAT
from tests.ledger.databases import Databases, World
from unmask.app.books import opened_engine
from unmask.app.keys import opened_store, pepper_of
from unmask.config import Settings
from unmask.config.choices import KeyMode
from unmask.ledger.tables import ENDS, OPEN, REQUESTS
from unmask.tenants.quota import parse_quota
from unmask.tenants.token import SECRET_LENGTH, Token
from unmask.testing.tenants import make_key, make_tenant

ROOT = Path(__file__).parents[2]
CALLERS = 6
LONGEST_S = 120.0


def named(url: URL) -> str:
    """Return a database as settings name it."""
    return url.render_as_string(hide_password=False).replace("+pysqlite", "").replace("+psycopg", "")


class Server:
    """A server in a process of its own."""

    def __init__(self, url: URL, state: Path, keys: KeyMode = KeyMode.OFF, *prices: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.app.worker", named(url), keys.value, *prices],
            stdout=subprocess.PIPE,
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}", "XDG_STATE_HOME": str(state)},
        )
        assert self._process.stdout is not None
        first = self._process.stdout.readline().decode()
        found = re.search(r"http://\S+", first)
        assert found is not None, first
        self.url = found.group()

    def end(self, number: signal.Signals) -> int:
        """Send a signal and wait for the end."""
        self._process.send_signal(number)
        assert self._process.stdout is not None
        self._process.stdout.read()
        self._process.stdout.close()
        return self._process.wait()


class Load:
    """Clients that ask again and again, whole and streamed, and note what they were answered in full."""

    def __init__(self, url: str, name: str) -> None:
        self._url = url
        self._name = name
        self._ends = threading.Event()
        self.answered: list[str] = []
        self._threads = [threading.Thread(target=self._ask, args=(number,)) for number in range(CALLERS)]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Wait for all of them."""
        self._ends.set()
        for thread in self._threads:
            thread.join()

    def wait_for(self, count: int) -> None:
        """Wait until so many are answered."""
        deadline = time.monotonic() + LONGEST_S
        while len(self.answered) < count:
            assert time.monotonic() < deadline, "nothing is answered"
            time.sleep(0.005)

    def _ask(self, number: int) -> None:
        for turn in range(1_000_000):
            if self._ends.is_set():
                return
            name = f"{self._name}-{number}-{turn}"
            try:
                if self._is_answered(name, stream=turn % 2 == 1):
                    self.answered.append(name)
            except (OSError, HTTPException):
                return

    def _is_answered(self, name: str, *, stream: bool) -> bool:
        body = json.dumps(BODY | {"stream": stream}).encode()
        headers = {"content-type": "application/json", "x-request-id": name}
        try:
            asked = urllib.request.Request(f"{self._url}{CHAT}", body, headers)  # noqa: S310 - our own server
            with urllib.request.urlopen(asked, timeout=LONGEST_S) as answer:  # noqa: S310 - same
                text = answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return False
        return bool(text.endswith(b"data: [DONE]\n\n") if stream else json.loads(text)["choices"])


def children_s() -> float:
    """Return the processor time of child processes that have ended, which other programs do not stretch."""
    times = os.times()
    return times.children_user + times.children_system


def ends_of(world: World) -> dict[str, str]:
    """Return how each request ended, by what its client calls it."""
    names = {row["id"]: row["request_id"] for row in world.rows(REQUESTS)}
    return {names[row["request"]]: row["ending"] for row in world.rows(ENDS)}


def kill_again_and_again(world: World, state: Path, times: int) -> None:
    """Kill a server under load at random moments, start the next one, and look at the books."""
    random, answered = Random(0), list[str]()
    for turn in range(times):
        server = Server(world.url, state)
        load = Load(server.url, f"turn{turn}")
        load.wait_for(CALLERS)
        time.sleep(random.random() * 0.2)
        server.end(signal.SIGKILL)
        load.stop()
        answered += load.answered
    last = Server(world.url, state)
    load = Load(last.url, "last")
    load.wait_for(1)
    last.end(signal.SIGTERM)
    load.stop()

    ends = ends_of(world)
    assert {ends.get(name) for name in answered} == {"completed"}, "answered and not booked"
    lost = [row for row in world.rows(ENDS) if row["ending"] == "lost"]
    assert {row["payer"] for row in lost} <= {"platform"}
    assert world.count(OPEN) == 0
    assert world.verify().faults == ()


def test_kill_9_leaves_every_answered_request_settled(world: World, tmp_path: Path) -> None:
    """And what was under way is lost, charged to nobody, when the next server starts."""
    kill_again_and_again(world, tmp_path, 2)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_kill_9_20_times(databases: Databases, kind: str, tmp_path: Path) -> None:
    """At random moments, on both databases."""
    kill_again_and_again(World(databases.make(kind)), tmp_path, 20)


@pytest.mark.slow
def test_a_killed_server_is_back_within_five_seconds(world: World, tmp_path: Path) -> None:
    """It answers after less than 5 s of processor time, and of waiting adds no 5 s to what a first start takes."""
    waited = []
    for turn in range(2):
        before, started = children_s(), time.monotonic()
        server = Server(world.url, tmp_path)
        load = Load(server.url, f"turn{turn}")
        load.wait_for(1)
        waited.append(time.monotonic() - started)
        server.end(signal.SIGKILL)
        load.stop()

    assert children_s() - before < 5
    assert waited[1] - waited[0] < 5


def test_graceful_shutdown_under_load_books_exactly_what_was_answered(world: World, tmp_path: Path) -> None:
    """SIGTERM: what runs is finished, settled and answered, nothing is lost, and the rest is refused."""
    server = Server(world.url, tmp_path)
    load = Load(server.url, "load")
    load.wait_for(2 * CALLERS)
    assert server.end(signal.SIGTERM) == 0
    load.stop()

    ends = ends_of(world)
    assert {name for name, ending in ends.items() if ending == "completed"} == set(load.answered)
    assert set(ends.values()) <= {"completed", "rejected"}
    assert world.count(OPEN) == 0
    assert world.verify().faults == ()


PRICES = '{"version": "first", "prices": [{"token_step": 250000, "prefill_token": 0}]}'


class Deployment:
    """A database that nobody has opened before, and servers of it that ask for keys."""

    def __init__(self, url: URL, state: Path) -> None:
        self._url = url
        self._state = state
        self._prices = state / "prices.json"
        self._prices.write_text(PRICES)
        self._env = {"XDG_STATE_HOME": str(state)}

    def server(self) -> Server:
        """Start a server."""
        return Server(self._url, self._state, KeyMode.REQUIRED, str(self._prices))

    def make_key(self, limit: str) -> str:
        """Make a tenant with a limit, as the command does, and return its key."""
        settings = Settings(keys=KeyMode.REQUIRED, database=named(self._url))
        token = Token(public_id="aaaaaaaaaaaa", secret="s" * SECRET_LENGTH)
        with opened_store(settings, self._env) as store:
            store.create_tenant(make_tenant(quotas=(parse_quota(limit),)))
            store.create_key(make_key(), token, pepper_of(settings, self._env))
        return token.text


def statuses_of(server: Server, key: str, count: int) -> Counter[int]:
    """Send requests at the same time, and count how they are answered."""
    headers = {"authorization": f"Bearer {key}"}
    with ThreadPoolExecutor(count) as pool:
        answers = pool.map(
            lambda _: httpx.post(f"{server.url}{CHAT}", json=BODY, headers=headers, timeout=LONGEST_S), range(count)
        )
        return Counter(answer.status_code for answer in answers)


@pytest.mark.parametrize(
    ("limit", "room"), [("requests=2/366d", 2), pytest.param("cost=0.000001/366d", 0, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def test_limits_hold_from_the_first_request_of_a_fresh_deployment(
    databases: Databases, kind: str, limit: str, room: int, tmp_path: Path
) -> None:
    """Of requests at once on a database that is new no more are answered than there is room for; nor after a crash."""
    url = URL.create("sqlite+pysqlite", database=str(tmp_path / "fresh.db"))
    if kind == "postgresql":
        url = databases.server().database(f"fresh-{limit.partition('=')[0]}")
    fresh = Deployment(url, tmp_path)
    server = fresh.server()
    key = fresh.make_key(limit)
    first, stranger = statuses_of(server, key, 8), statuses_of(server, "um-nobody", 1)
    server.end(signal.SIGKILL)
    server = fresh.server()
    again = statuses_of(server, key, 8)
    server.end(signal.SIGTERM)

    assert stranger == {401: 1}
    assert (first, again) == (Counter({200: room, 429: 8 - room}), Counter({429: 8}))
    assert World(url).verify().faults == ()


def test_without_keys_and_database_nothing_is_opened(tmp_path: Path) -> None:
    """A server of one's own leaves no file behind."""
    with opened_engine(Settings(), {"XDG_STATE_HOME": str(tmp_path)}) as engine:
        assert engine is None
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(name="databases", scope="module")
def _databases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Databases]:
    """Databases of both kinds."""
    made = Databases(tmp_path_factory.mktemp("databases"))
    yield made
    made.stop()


@pytest.fixture(name="world")
def _world(databases: Databases) -> World:
    """Return an empty ledger in a file."""
    return World(databases.make("sqlite"))
