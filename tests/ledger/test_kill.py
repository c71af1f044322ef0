"""The promise under kill -9: reserved before the first byte, settled before the last, orphans charged to nobody."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from random import Random

import pytest

from tests.ledger.databases import Databases, World
from tests.ledger.worker import CALLERS
from unmask.ledger.tables import ENDS, OPEN, REQUESTS

ROOT = Path(__file__).parents[2]


class Server:
    """A worker process and what it has said."""

    def __init__(self, world: World) -> None:
        url = world.url.render_as_string(hide_password=False)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.ledger.worker", url],
            stdout=subprocess.PIPE,
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"},
        )
        self.said: list[str] = []
        self.is_ready, self.is_busy = threading.Event(), threading.Event()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said.append(line.decode())
            self.is_ready.set()
            if len(self.said) > 3 * CALLERS:
                self.is_busy.set()
        self.is_ready.set()
        self.is_busy.set()

    def kill(self) -> None:
        """Kill it, and read what it had said."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self._reader.join()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def told(self, what: str) -> set[str]:
        """Return the requests that it was told are booked."""
        words = (line.split() for line in self.said if line.endswith("\n"))
        return {pair[1] for pair in words if pair[0] == what}


def kill_again_and_again(world: World, times: int) -> None:
    """Kill a server under load at random moments, start the next at once, and prove the books each time."""
    random, told = Random(0), dict[str, set[str]](reserved=set(), settled=set())
    for _ in range(times):
        server = Server(world)
        assert server.is_busy.wait(120)
        time.sleep(random.random() * 0.2)
        server.kill()
        assert len(server.said) > 3 * CALLERS, "it came to an end by itself"
        for what in told:
            told[what] |= server.told(what)
    last = Server(world)
    assert last.is_busy.wait(120)
    # Orphans of the one before are ended when the next one opens; its own run.
    assert world.count(OPEN) <= CALLERS
    last.kill()
    check(world, told)


def check(world: World, told: dict[str, set[str]]) -> None:
    """Everything that was answered is booked, and nothing that is lost is charged to anyone."""
    ends = {row["request"]: row for row in world.rows(ENDS)}
    assert told["reserved"] <= {row["id"] for row in world.rows(REQUESTS)}
    assert {ends[request]["ending"] for request in told["settled"]} == {"completed"}
    lost = [row for row in ends.values() if row["ending"] == "lost"]
    assert lost
    assert {row["payer"] for row in lost} == {"platform"}
    assert not {row["request"] for row in lost} & told["settled"]
    found = world.verify()
    assert found.faults == ()


def test_kill_under_load(file_world: World) -> None:
    """Once before a last time, on a file."""
    kill_again_and_again(file_world, 1)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_kill_under_load_20_times(databases: Databases, kind: str) -> None:
    """At random moments, on both databases."""
    kill_again_and_again(World(databases.make(kind)), 20)
