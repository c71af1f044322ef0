"""A server in front of other servers: all that is ours works on what they answer, and without torch."""

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from openai import OpenAI

import unmask
from tests.api.client import CHAT, chat_body, client_of, make_app
from tests.app.site import open_site
from tests.clients.server import serving
from tests.remote.remotes import PATIENT, make_settings
from unmask.app.local import chosen_backend
from unmask.config import Settings
from unmask.control.parts import ControlParts
from unmask.errors import ConfigError
from unmask.remote.backend import RemoteBackend
from unmask.remote.engines import PoolSettings, SglangSettings, VllmSettings
from unmask.remote.opening import open_backend
from unmask.remote.settings import Breaking, Kind, RemoteSettings
from unmask.tenants.quota import parse_quota
from unmask.testing.fake_backend import FakeBackend
from unmask.testing.fake_engines import FakeVllm, sglang
from unmask.testing.fake_upstream import FakeUpstream, Script, answer, answering, chunk, event, silent, streaming
from unmask.testing.ledgers import MemoryLedger
from unmask.testing.policies import FakePolicies, make_active
from unmask.testing.tenants import FakeAuthenticator, make_principal
from unmask.testing.waiting import until
from unmask.types import Bucket

VLLM = VllmSettings(canvas_length=32, max_steps=16)
KEY = {"authorization": "Bearer key"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """An application in front of an upstream, a client of it, and its books."""

    client: httpx.AsyncClient
    upstream: FakeUpstream
    ledger: MemoryLedger

    async def chat(self, **changes: Any) -> httpx.Response:  # noqa: ANN401 - any field of the body
        """Send a chat request with the key."""
        return await self.client.post(
            CHAT, json=chat_body(**({"model": "far", "max_tokens": 64} | changes)), headers=KEY
        )


@asynccontextmanager
async def gateway(*scripts: Script, limits: tuple[str, ...] = (), **changes: Any) -> AsyncIterator[Gateway]:  # noqa: ANN401 - any field of the model
    """Run an upstream and an application with a policy, a ledger and a key in front of it."""
    ledger = MemoryLedger()
    async with FakeUpstream(*scripts).listening() as upstream:
        backend = open_backend(RemoteSettings(models=(make_settings(upstream.url, timeouts=PATIENT, **changes),)), {})
        parts = ControlParts(policies=FakePolicies(make_active(), "far"), ledger=ledger)
        keys = FakeAuthenticator({"key": make_principal(tenant_quotas=tuple(map(parse_quota, limits)))})
        async with client_of(make_app(backend, parts=parts, keys=keys)) as client:
            yield Gateway(client=client, upstream=upstream, ledger=ledger)
        await backend.drain()


async def test_classes_and_ledger_hold_for_remote_models() -> None:
    """An answer has its service class, and is booked with the upstream's tokens; steps are said to be unknown."""
    async with gateway(streaming(*answer("안녕"))) as gate:
        response = await gate.chat(diffusion={"service_class": "batch"})

    body = response.json()
    assert (response.status_code, body["choices"][0]["message"]["content"]) == (200, "안녕")
    assert (body["usage"]["prompt_tokens"], body["usage"]["completion_tokens"]) == (7, 3)
    diffusion = body["usage"]["diffusion"]
    assert (diffusion["service_class"], diffusion["steps_known"], diffusion["steps_used"]) == ("batch", False, 0)
    (reservation,), (settlement,) = gate.ledger.reservations.values(), gate.ledger.settlements.values()
    assert reservation.steps >= 64
    (attempt,) = settlement.attempts
    assert (attempt.steps, attempt.prefill_tokens, attempt.output_tokens) == (0, 7 + 3, 3)


async def test_estimated_steps_are_booked_and_marked() -> None:
    """Of a vLLM they come from its counters."""
    async with gateway(FakeVllm(needs=6).script, kind=Kind.VLLM, vllm=VLLM) as gate:
        response = await gate.chat(diffusion={"max_steps": 8})

    diffusion = response.json()["usage"]["diffusion"]
    assert (diffusion["steps_used"], diffusion["steps_known"], diffusion["steps_estimated"]) == (6, False, True)
    assert (diffusion["cap_ignored"], diffusion["cap_applied"], diffusion["canvases"]) == (False, None, 1)
    ((attempt,),) = (one.attempts for one in gate.ledger.settlements.values())
    assert (attempt.steps, attempt.steps_allocated) == (6, 8)


async def test_steps_above_an_ignored_cap_are_told_and_not_charged() -> None:
    """No cap is said to have held, and the ledger books what was allowed."""
    async with gateway(FakeVllm(heeds_cap=False).script, kind=Kind.VLLM, vllm=VLLM) as gate:
        response = await gate.chat(diffusion={"max_steps": 4})

    diffusion = response.json()["usage"]["diffusion"]
    assert (diffusion["steps_used"], diffusion["steps_allocated"]) == (16, 4)
    assert (diffusion["cap_ignored"], diffusion["cap_applied"]) == (True, None)
    ((attempt,),) = (one.attempts for one in gate.ledger.settlements.values())
    assert attempt.steps == 4


async def test_pools_are_chosen_by_effort_and_book_no_steps() -> None:
    """The bucket of the pool is told; steps that nobody knows are neither booked nor said to be saved."""
    pool = PoolSettings(name="up1", steps=4, buckets=(Bucket.S,))
    launched = SglangSettings(canvas_length=32, pools=(pool,))
    async with gateway(sglang, kind=Kind.SGLANG, sglang=launched) as gate:
        response = await gate.chat(reasoning_effort="high")
        refused = await gate.chat(diffusion={"max_steps": 3})

    diffusion = response.json()["usage"]["diffusion"]
    assert (diffusion["bucket"], diffusion["steps_known"], diffusion["steps_estimated"]) == ("S", False, False)
    assert (diffusion["steps_used"], diffusion["steps_allocated"]) == (0, 4)
    attempt = next(one.attempts[0] for one in gate.ledger.settlements.values() if one.attempts)
    assert (attempt.steps, attempt.steps_allocated, attempt.output_tokens) == (0, 0, 5)
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "diffusion.max_steps")


async def test_quotas_hold_for_remote_models() -> None:
    """A tenant whose limit is reached is refused before the upstream hears of it."""
    async with gateway(streaming(*answer("2")), limits=("requests=1/1m",)) as gate:
        statuses = [(await gate.chat()).status_code for _ in range(2)]

    assert statuses == [200, 429]
    assert len(gate.upstream.exchanges) == 1


@pytest.mark.parametrize("number", [4, 0])
async def test_answers_of_remote_models_are_verified(number: int) -> None:
    """Verification looks at what came, whoever made it."""
    async with gateway(streaming(*answer(str(number)))) as gate:
        body = (await gate.chat(diffusion={"verify": [{"kind": "numeric", "minimum": 2}]})).json()

    assert body["usage"]["diffusion"]["verify"] == ("pass" if number else "fail")


async def test_streams_pass_through_as_they_come() -> None:
    """A client of the API sees a part for every part of the upstream's, and the usage last."""
    async with gateway(streaming(*answer("하나 둘"))) as gate:
        response = await gate.chat(stream=True, stream_options={"include_usage": True})

    events = [json.loads(line[6:]) for line in response.text.split("\n\n") if line.startswith("data: {")]
    texts = [one["choices"][0]["delta"].get("content") for one in events if one["choices"]]
    assert [text for text in texts if text] == list("하나 둘")
    assert events[-1]["usage"]["diffusion"]["steps_known"] is False


ERRORS: tuple[tuple[Script, int, str], ...] = (
    (answering(500), 502, "upstream_failed"),
    (answering(401), 502, "upstream_failed"),
    (answering(400), 400, "upstream_refused"),
    (answering(429, retry_after="7"), 429, "upstream_busy"),
    (streaming(chunk("2")), 502, "upstream_failed"),
)


@pytest.mark.parametrize(("script", "status", "code"), ERRORS)
async def test_faults_of_upstreams_have_their_statuses(script: Script, status: int, code: str) -> None:
    """A client can tell an upstream's fault from its own, and when to come back."""
    async with gateway(script) as gate:
        response = await gate.chat()

    assert (response.status_code, response.json()["error"]["code"]) == (status, code)
    assert response.headers.get("retry-after") == ("7" if status == 429 else None)
    assert [one.attempts for one in gate.ledger.settlements.values()] == [()]


async def test_fault_inside_a_stream_is_an_error_event() -> None:
    """What was sent stands, and the client learns that it is not whole."""
    async with gateway(streaming(chunk("2"), event({"error": {"message": "boom"}}))) as gate:
        response = await gate.chat(stream=True)

    assert response.status_code == 200
    last = response.text.strip().split("\n\n")[-1]
    assert json.loads(last[6:])["error"]["code"] == "upstream_failed"


async def test_health_names_the_failing_upstream() -> None:
    """While no upstream of a model is well the server is not ready, and says which one fails."""
    async with gateway(answering(500), breaking=Breaking(failures=1)) as gate:
        await gate.chat()
        health = await gate.client.get("/health")

    assert health.status_code == 503
    assert "upstream up1 has failed 1 times in a row" in health.text


async def test_client_that_leaves_ends_the_request_upstream() -> None:
    """Over real sockets: the client hangs up, and the upstream sees it."""
    async with FakeUpstream(silent(b"")).listening() as upstream:
        backend = open_backend(RemoteSettings(models=(make_settings(upstream.url),)), {})
        async with open_site(backend) as site, await site.connect() as wire:
            body = json.dumps(chat_body(model="far", max_tokens=9)).encode()
            await wire.send(
                b"POST %s HTTP/1.1\r\nhost: localhost\r\ncontent-length: %d\r\n\r\n" % (CHAT.encode(), len(body))
            )
            await wire.send(body)
            await until(lambda: len(upstream.exchanges) == 1)
            wire.hang_up()
            await until(upstream.exchanges[0].gone.is_set)


# --- from the setting ---

FILE = """
models:
  - name: far
    upstream_model: tiny
    kind: {kind}
    upstreams: [{{name: near, url: "{url}/v1"}}]
"""


async def test_setting_names_the_file(tmp_path: Path) -> None:
    """With it the backend is a remote one."""
    path = tmp_path / "remote.yaml"
    path.write_text(FILE.format(kind="openai", url="http://127.0.0.1:9"), encoding="utf-8")
    backend = chosen_backend(Settings(remote=str(path)))

    assert isinstance(backend, RemoteBackend)
    assert [model.name for model in backend.models()] == ["far"]
    await backend.drain()


def test_replicas_run_here() -> None:
    """Of other servers there are as many as the file names."""
    with pytest.raises(ConfigError, match="replicas is 2, allowed: 1 with remote") as caught:
        chosen_backend(Settings(remote="remote.yaml", replicas=2))

    assert caught.value.param == "replicas"


def test_models_run_here_or_there() -> None:
    """Both together are refused, with what to do instead."""
    with pytest.raises(ConfigError, match="one of the two"):
        chosen_backend(Settings(remote="remote.yaml", models=("tiny",)))


WITHOUT_TORCH = """
import sys
for name in ("torch", "safetensors"):
    sys.modules[name] = None  # what an import of something that is not installed runs into
from unmask.cli.entry import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("kind", ["openai", pytest.param("unmask", marks=pytest.mark.slow)])
def test_whole_server_without_torch(kind: str, tmp_path: Path) -> None:
    """`unmask serve --remote` in an environment without torch answers the official client through another server."""
    with serving(FakeBackend("안녕 42")) as behind:
        path = tmp_path / "remote.yaml"
        path.write_text(FILE.format(kind=kind, url=behind.url), encoding="utf-8")
        process = subprocess.Popen(
            [sys.executable, "-c", WITHOUT_TORCH, "serve", "--port", "0", "--remote", str(path)],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(Path(unmask.__file__).parents[1])},
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stderr is not None
        with process, process.stderr:
            try:
                first = process.stderr.readline()
                assert " listens on " in first, first + process.stderr.read()
                described = process.stderr.readline()
                client = OpenAI(base_url=f"{first.split()[-1]}/v1", api_key="none", max_retries=0, timeout=30)
                found = client.chat.completions.create(
                    model="far", messages=[{"role": "user", "content": "add 1 + 1"}], max_tokens=16
                )
            finally:
                process.terminate()
            assert process.wait(timeout=60) == 0

    assert found.choices[0].message.content == "안녕 42"
    assert ("without step budgets" in described) == (kind == "openai")
