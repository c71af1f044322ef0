"""Behaviour of `unmask.app.serve` and `unmask.app.server`, over real sockets."""

import asyncio
import os
import signal
import socket
import subprocess
import sys

import httpx
import pytest

from tests.app.site import BODY, CHAT, open_site
from unmask.app import server as server_module
from unmask.app.serve import listen, url_of
from unmask.config import Settings
from unmask.errors import ConfigError
from unmask.testing.fake_backend import FakeBackend
from unmask.testing.waiting import until


async def test_idle_server_stops_at_once() -> None:
    """With nothing running there is nothing to wait for, and nothing is cut off."""
    backend = FakeBackend()
    async with open_site(backend) as running:
        assert (await running.client.post(CHAT, json=BODY)).status_code == 200
        assert await running.stop() == 0

    assert backend.drained


async def test_drain_finishes_what_runs_and_refuses_what_is_new() -> None:
    """While a request is finished, health and new requests say that the server drains."""
    gate = asyncio.Event()
    backend = FakeBackend(gate=gate)
    async with open_site(backend) as running:
        pending = asyncio.create_task(running.client.post(CHAT, json=BODY))
        await until(lambda: bool(backend.requests))
        running.server.stop()
        await asyncio.sleep(0.01)
        health = await running.get_health()
        refused = await running.client.post(CHAT, json=BODY)
        gate.set()
        answered = await pending
        assert await running.serving == 0

    assert (health.status_code, health.json()["reasons"]) == (503, ["draining"])
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "draining")
    assert answered.status_code == 200
    assert backend.aborted == []


async def test_deadline_cuts_off_with_an_answer() -> None:
    """A request that outlasts the deadline is stopped, told so, and counted."""
    backend = FakeBackend(gate=asyncio.Event())
    async with open_site(backend, drain_s=0.05) as running:
        pending = asyncio.create_task(running.client.post(CHAT, json=BODY))
        await until(lambda: bool(backend.requests))
        running.server.stop()
        answered = await pending
        assert await running.serving == 1

    assert (answered.status_code, answered.json()["error"]["code"]) == (503, "aborted")
    assert backend.aborted == backend.requests
    assert running.said[-1] == "requests cut off: 1"


async def test_second_signal_waits_no_longer() -> None:
    """Whoever asks twice is in a hurry."""
    backend = FakeBackend(gate=asyncio.Event())
    async with open_site(backend, drain_s=3600) as running:
        pending = asyncio.create_task(running.client.post(CHAT, json=BODY))
        await until(lambda: bool(backend.requests))
        running.server.stop()
        running.server.stop()
        assert (await pending).status_code == 503
        assert await running.serving == 1


class Stuck(FakeBackend):
    """A backend that never finishes draining."""

    async def drain(self) -> None:
        """Wait for what never comes."""
        await asyncio.Event().wait()


async def test_backend_that_does_not_stop_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """Past the cut-off the server ends all the same, says what is still at work and counts what it cut off."""
    monkeypatch.setattr(server_module, "FLUSH_S", 0.05)
    backend = Stuck(gate=asyncio.Event())
    async with open_site(backend, drain_s=0.05) as running:
        pending = asyncio.create_task(running.client.post(CHAT, json=BODY))
        await until(lambda: bool(backend.requests))
        running.server.stop()
        assert (await pending).status_code == 503
        assert await running.serving == 1

    assert running.said[-2:] == [
        "requests cut off: 1",
        "still at work and not waited for: the backend, with 0 requests open",
    ]


async def test_hanging_up_cancels_over_a_real_socket() -> None:
    """A client that closes its connection ends its generation."""
    backend = FakeBackend(gate=asyncio.Event())
    async with open_site(backend) as running:
        pending = asyncio.create_task(running.client.post(CHAT, json=BODY))
        await until(lambda: bool(backend.requests))
        pending.cancel()
        await until(lambda: bool(backend.aborted))
        assert await running.stop() == 0


async def test_long_body_is_refused_over_a_real_socket() -> None:
    """The refusal arrives although the body was not read to its end."""
    async with open_site(FakeBackend()) as running:
        response = await running.client.post(CHAT, content=b" " * (2 << 20))

    assert response.status_code == 413
    assert "server" not in response.headers


async def test_no_piece_of_an_answer_waits_for_another() -> None:
    """On either event loop a connection sends what it has, whether or not the client has confirmed what came before."""
    async with open_site() as running, await running.connect():
        await until(lambda: bool(running.server.server_state.connections))
        (connection,) = running.server.server_state.connections
        accepted = connection.transport.get_extra_info("socket")

        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0


def test_taken_port_is_told() -> None:
    """The error names the port before any model is loaded."""
    with listen(Settings(port=0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=f"port is {port}") as caught:
            listen(Settings(port=port))

    assert caught.value.param == "port"


def test_url_of_ipv6_is_bracketed() -> None:
    """An IPv6 address is written as clients need it."""
    if not socket.has_ipv6:
        pytest.skip("no IPv6 here")
    try:
        listener = listen(Settings(host="::1", port=0))
    except ConfigError:
        pytest.skip("no IPv6 loopback here")
    with listener:
        assert url_of(listener) == f"http://[::1]:{listener.getsockname()[1]}"


PROGRAM = """
import gc
import sys
from rich.console import Console
from unmask.cli.entry import run
from unmask.cli.tools import Tools
from unmask.testing.fake_backend import FakeBackend
def tools():
    return Tools(out=Console(), err=Console(stderr=True), make_backend=lambda _: FakeBackend(step_s=0.15))
code = run(["serve", "--port", "0"], tools)
assert gc.get_freeze_count() > 10_000, "the process ends without a search through all that it loaded"
sys.exit(code)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_signal_drains_a_whole_process(number: signal.Signals) -> None:
    """A stop signal while a request runs: it is answered, and the process ends well."""
    process = subprocess.Popen([sys.executable, "-c", PROGRAM], stderr=subprocess.PIPE, text=True, env={**os.environ})
    assert process.stderr is not None
    with process, process.stderr:
        first = process.stderr.readline()
        url = first.split()[-1]
        with httpx.Client(base_url=url, timeout=10) as client:
            # The request takes 0.6 s; the signal comes while it runs.
            stopper = subprocess.Popen(["sh", "-c", f"sleep 0.2; kill -{int(number)} {process.pid}"])
            answered = client.post(CHAT, json=BODY)
        assert process.wait(timeout=10) == 0
        stopper.wait()

    assert "listens on http://127.0.0.1:" in first
    assert answered.status_code == 200
