"""What requests move in the metrics, whichever way they end."""

import asyncio
import json

import pytest
from prometheus_client import CollectorRegistry
from starlette.types import Message, Receive, Scope, Send

from tests.api.client import CHAT, chat_body, client_of, make_app
from tests.api.raw_client import RawClient
from tests.metrics.reading import Series, moved, read
from unmask.api.measured import STOPWATCH, Measured
from unmask.api.running import Running
from unmask.api.stopwatch import Stopwatch
from unmask.errors import QueueFullError
from unmask.metrics.http import HttpInstruments
from unmask.testing.builders import make_generation, make_usage
from unmask.testing.fake_backend import FakeBackend
from unmask.testing.manual_clock import ManualClock
from unmask.testing.waiting import until
from unmask.types import ExitReason, Outcome

HTTP = "unmask_requests_total{{endpoint={},status={}}}"
OUTCOME = "unmask_generations_total{{model=tiny,outcome={}}}"


class Site:
    """An application and what it has counted."""

    def __init__(self, backend: FakeBackend | None = None, running: Running | None = None) -> None:
        self.registry = CollectorRegistry()
        self.clock = ManualClock()
        self.running = running or Running(100)
        self.app = make_app(backend, running=self.running, registry=self.registry, clock=self.clock)
        self._before = read(self.registry)

    def moved(self) -> Series:
        """Return what has moved, the process's own numbers aside."""
        found = moved(self._before, read(self.registry))
        return {name: value for name, value in found.items() if not name.startswith("process_")}


async def test_success_moves_request_and_generation() -> None:
    """An answered chat is a request, a generation with its cost, and a skipped verification."""
    usage = make_usage(prompt_tokens=7, completion_tokens=3, steps_used=4)
    site = Site(FakeBackend(generation=make_generation(usage=usage)))
    async with client_of(site.app) as client:
        assert (await client.post(CHAT, json=chat_body())).status_code == 200
    found = site.moved()

    assert found[HTTP.format(CHAT, 200)] == 1
    assert found[OUTCOME.format("completed")] == 1
    assert found["unmask_verifications_total{model=tiny,result=skipped}"] == 1
    assert found["unmask_steps_used_total{model=tiny}"] == 4
    assert found["unmask_request_overhead_seconds_count"] == 1
    assert not [name for name in found if "errors" in name or "disconnects" in name]


@pytest.mark.parametrize(
    ("method", "path", "body", "endpoint", "status", "code"),
    [
        ("POST", CHAT, chat_body(max_tokens=0), CHAT, 400, "invalid_value"),
        ("POST", CHAT, chat_body(model="no-such"), CHAT, 404, "model_not_found"),
        ("POST", CHAT, chat_body(max_stepz=1), CHAT, 400, "unknown_parameter"),
        ("GET", CHAT, None, CHAT, 405, "method_not_allowed"),
        ("GET", "/v1/models/no/such", None, "/v1/models/{model_id}", 404, "model_not_found"),
        ("GET", "/no/such", None, "other", 404, "unknown_path"),
    ],
)
async def test_refusal_moves_request_and_error(
    method: str, path: str, body: object, endpoint: str, status: int, code: str
) -> None:
    """Each error counts by its code, at the endpoint as the server knows it, and no generation begins."""
    site = Site()
    async with client_of(site.app) as client:
        assert (await client.request(method, path, json=body)).status_code == status

    assert site.moved() == {
        HTTP.format(endpoint, status): 1,
        f"unmask_errors_total{{code={code}}}": 1,
        f"unmask_request_duration_seconds_count{{endpoint={endpoint}}}": 1,
    }


async def test_refusals_of_a_full_or_draining_server_are_counted() -> None:
    """So are those that the backend itself makes."""
    full, draining = Site(running=Running(1)), Site()
    draining.running.begin_drain()
    busy = Site(FakeBackend(error=QueueFullError("full")))
    codes = []
    with full.running.track(asyncio.Future()):
        for site in (full, draining, busy):
            async with client_of(site.app) as client:
                await client.post(CHAT, json=chat_body())
            codes += [name for name in site.moved() if "errors" in name]

    assert codes == [f"unmask_errors_total{{code={code}}}" for code in ("queue_full", "draining", "queue_full")]


async def test_failure_moves_error_and_failed_generation() -> None:
    """A generation that failed is an error of the server, with what it has cost."""
    usage = make_usage(exit_reason=ExitReason.FAILED, steps_used=2)
    failed = make_generation("", outcome=Outcome.FAILED, finish_reason=None, usage=usage)
    site = Site(FakeBackend(generation=failed))
    async with client_of(site.app) as client:
        await client.post(CHAT, json=chat_body())
    found = site.moved()

    assert found[HTTP.format(CHAT, 500)] == 1
    assert found["unmask_errors_total{code=generation_failed}"] == 1
    assert found[OUTCOME.format("failed")] == 1
    assert found["unmask_steps_used_total{model=tiny}"] == 2
    assert "unmask_verifications_total{model=tiny,result=skipped}" not in found


async def test_error_that_nobody_foresaw_is_counted() -> None:
    """An exception is a 500 in the metrics as well."""
    site = Site(FakeBackend(error=RuntimeError("broken")))
    async with client_of(site.app) as client:
        await client.post(CHAT, json=chat_body())
    found = site.moved()

    assert found[HTTP.format(CHAT, 500)] == 1
    assert found["unmask_errors_total{code=internal_error}"] == 1
    assert found[OUTCOME.format("failed")] == 1


async def test_hanging_up_moves_disconnect_and_aborted_generation() -> None:
    """A client that leaves is counted once, and nothing stays open behind it."""
    backend = FakeBackend(gate=asyncio.Event())
    site = Site(backend)
    wire = RawClient(json.dumps(chat_body()).encode())
    calling = asyncio.create_task(wire.call(site.app))
    await until(lambda: bool(backend.requests))
    during = site.moved()
    wire.hung_up.set()
    async with asyncio.timeout(5):
        await calling
    found = site.moved()

    assert (during["unmask_requests_open"], during["vllm:num_requests_running"]) == (1, 1)
    assert found[OUTCOME.format("aborted")] == 1
    assert found[f"unmask_disconnects_total{{endpoint={CHAT}}}"] == 1
    assert found["unmask_errors_total{code=client_gone}"] == 1
    assert not [name for name in found if "open" in name or "running" in name or "kv_" in name]
    assert not [name for name in found if "duration" in name or "overhead" in name]


async def test_hanging_up_while_sending_moves_no_generation() -> None:
    """Half a body is a disconnect and nothing else."""
    site = Site()
    wire = RawClient(b"{")
    wire.hung_up.set()

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    wire.receive = receive  # type: ignore[method-assign] # a connection that is gone from the start
    await wire.call(site.app)

    assert site.moved() == {
        HTTP.format(CHAT, 499): 1,
        f"unmask_disconnects_total{{endpoint={CHAT}}}": 1,
        "unmask_errors_total{code=client_gone}": 1,
    }


async def test_cut_off_requests_leave_nothing_open() -> None:
    """After a drain that waits no longer every gauge is at zero, and the requests are counted as aborted."""
    backend = FakeBackend(gate=asyncio.Event())
    site = Site(backend)
    async with client_of(site.app) as client:
        calls = [asyncio.create_task(client.post(CHAT, json=chat_body())) for _ in range(5)]
        await until(lambda: len(backend.requests) == 5)
        open_before = site.moved()["unmask_requests_open"]
        site.running.cut_off()
        await asyncio.gather(*calls)
    found = site.moved()

    assert open_before == 5
    assert found[OUTCOME.format("aborted")] == 5
    assert found["unmask_errors_total{code=aborted}"] == 5
    assert not [name for name in found if "open" in name or "running" in name or "kv_" in name]


async def test_cancelled_request_is_counted_without_a_status() -> None:
    """A server that gives up on a handler before its answer loses no request."""
    backend = FakeBackend(gate=asyncio.Event())
    site = Site(backend)
    calling = asyncio.create_task(RawClient(json.dumps(chat_body()).encode()).call(site.app))
    await until(lambda: bool(backend.requests))
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling

    assert site.moved()[HTTP.format(CHAT, "none")] == 1


async def test_odd_names_and_paths_add_no_series() -> None:
    """A flood of made-up models, paths, methods and headers leaves as many series as its first wave."""
    site = Site()

    async def flood(first: int) -> None:
        async with client_of(site.app) as client:
            for number in range(first, first + 25):
                odd = f'odd-{number}-"\\é'
                await client.post(CHAT, json=chat_body(model=odd))
                await client.post(CHAT, json=chat_body(**{odd: odd}), headers={"x-request-id": f"id-{number}"})
                await client.get(f"/v1/models/{odd}")
                await client.get(f"/{odd}/{odd}?{odd}")
                await client.request(f"ODD{number}", CHAT)

    await flood(0)
    after_first = set(read(site.registry))
    await flood(25)
    after_second = read(site.registry)

    assert set(after_second) == after_first
    assert not [name for name in after_second if "odd" in name.lower()]


async def test_time_outside_the_backend_is_measured() -> None:
    """Of a request's duration, what was not spent waiting for the backend is the server's own."""
    registry, clock = CollectorRegistry(), ManualClock()
    instruments = HttpInstruments(registry, open_requests=lambda: 0, limit=1, is_draining=lambda: False)

    async def app(scope: Scope, _receive: Receive, send: Send) -> None:
        clock.advance(0.01)
        scope["state"][STOPWATCH] = stopwatch = Stopwatch(clock, scope["state"]["arrived"])
        stopwatch.hand_over()
        clock.advance(5)
        stopwatch.come_back()
        clock.advance(0.02)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    await RawClient(b"").call(Measured(app, instruments=instruments, clock=clock))
    found = read(registry)

    assert found["unmask_request_overhead_seconds_sum"] == pytest.approx(0.03)
    assert found["unmask_request_duration_seconds_sum{endpoint=other}"] == pytest.approx(5.03)


async def test_stream_that_its_client_leaves_keeps_its_status() -> None:
    """Once the answer has begun it is a 200 and a disconnect, and not timed."""
    registry, clock = CollectorRegistry(), ManualClock()
    instruments = HttpInstruments(registry, open_requests=lambda: 0, limit=1, is_draining=lambda: False)

    async def app(_scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"data", "more_body": True})
        await receive()
        assert (await receive())["type"] == "http.disconnect"

    wire = RawClient(b"")
    wire.hung_up.set()
    await wire.call(Measured(app, instruments=instruments, clock=clock))

    assert moved({}, read(registry)) == {
        "unmask_requests_open_limit": 1,
        HTTP.format("other", 200): 1,
        "unmask_disconnects_total{endpoint=other}": 1,
    }


class Prompt(RawClient):
    """A connection whose server says that it is over while the last byte is still being sent."""

    async def send(self, message: Message) -> None:
        """Note what is sent, and let whoever listens hear of the end before the sender goes on."""
        await super().send(message)
        if message["type"] == "http.response.body":
            self.hung_up.set()
            await asyncio.sleep(0.001)


async def test_end_of_an_answer_is_no_disconnect() -> None:
    """A server says `http.disconnect` after every answer, to whoever still listens."""
    registry = CollectorRegistry()
    instruments = HttpInstruments(registry, open_requests=lambda: 0, limit=1, is_draining=lambda: False)
    heard: list[str] = []

    async def listen(receive: Receive) -> None:
        while not heard or heard[-1] != "http.disconnect":
            heard.append((await receive())["type"])

    async def app(_scope: Scope, receive: Receive, send: Send) -> None:
        listening = asyncio.ensure_future(listen(receive))
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})
        assert listening.done()

    await Prompt(b"").call(Measured(app, instruments=instruments, clock=ManualClock()))

    assert heard[-1] == "http.disconnect"
    assert not [name for name in read(registry) if name.startswith("unmask_disconnects_total")]


async def test_what_is_not_http_passes() -> None:
    """Start and end of the server are no requests."""
    registry = CollectorRegistry()
    instruments = HttpInstruments(registry, open_requests=lambda: 0, limit=1, is_draining=lambda: False)
    seen: list[str] = []

    async def app(scope: Scope, _receive: Receive, _send: Send) -> None:
        seen.append(scope["type"])

    wire = RawClient(b"")
    await Measured(app, instruments=instruments, clock=ManualClock())({"type": "lifespan"}, wire.receive, wire.send)

    assert seen == ["lifespan"]
    assert not [name for name in read(registry) if name.startswith("unmask_requests_total")]
