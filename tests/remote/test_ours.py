"""Behaviour of `unmask.remote` in front of one of our own servers, which runs in a thread."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

import pytest

from tests.clients.server import serving
from tests.remote.remotes import texts
from unmask.backend import Backend, CommitEvent, Lever, Request, Usage
from unmask.errors import ConfigError
from unmask.local.build import build_local_backend
from unmask.remote.engines import VllmSettings
from unmask.remote.errors import RequestRefusedError, UpstreamProtocolError
from unmask.remote.opening import open_backend, open_remote
from unmask.remote.settings import Kind, RemoteModel, RemoteSettings, UpstreamSettings
from unmask.sched.settings import SchedSettings
from unmask.testing.fake_backend import FakeBackend
from unmask.types import Message, Role, Sampling, StepBudget

T = TypeVar("T")
PROMPTS = ("add 12 + 30", "더하기 1 + 1")


@pytest.fixture(name="url", scope="module")
def _url() -> Iterator[str]:
    """Serve the smallest model."""
    backend = build_local_backend(("nano",), SchedSettings(pages=64))
    with serving(backend) as site:
        yield f"{site.url}/v1"


def make_request(prompt: str, **changes: Any) -> Request:  # noqa: ANN401 - any field of the request
    """Return a short request."""
    messages = (Message(role=Role.USER, content=prompt),)
    return Request(model="nano", messages=messages, max_tokens=24, **changes)


def run(backend: Backend, what: Callable[[Backend], Any]) -> Any:  # noqa: ANN401 - whatever it makes
    """Do something with a backend and end it."""

    async def main() -> object:
        try:
            return await what(backend)
        finally:
            await backend.drain()

    return asyncio.run(main())


def local() -> Backend:
    """Return the same model without a server in between."""
    return build_local_backend(("nano",), SchedSettings(pages=64))


def cost(usage: Usage) -> Usage:
    """Return a cost without what depends on earlier requests, or is not told over HTTP."""
    return replace(usage, cached_tokens=0, prefill_tokens=0, commit_tokens=0)


@pytest.mark.parametrize("kind", [Kind.OPENAI, Kind.UNMASK])
def test_answers_are_those_of_the_model(url: str, kind: Kind) -> None:
    """Text, its end, tokens and steps are what the model gives without a server, whole or streamed."""
    requests = [make_request(prompt) for prompt in PROMPTS]

    async def all_of(backend: Backend) -> list[tuple[Any, ...]]:
        return [
            (found.text, found.finish_reason, found.outcome, cost(found.usage))
            for found in [await backend.generate(request) for request in requests]
        ]

    async def streamed(backend: Any) -> list[str]:  # noqa: ANN401 - a remote one
        return ["".join((await texts(backend, request))[0]) for request in requests]

    expected = run(local(), all_of)

    assert run(open_remote(url, "nano", kind=kind), all_of) == expected
    assert run(open_remote(url, "nano", kind=kind), streamed) == [text for text, *_ in expected]
    assert all(usage.steps_known and usage.steps_used for *_, usage in expected)


def test_budget_seed_and_logprobs_pass_through(url: str) -> None:
    """What one of our own servers takes is honoured there as here."""
    request = make_request(
        "add 12 + 30",
        budget=StepBudget(max_steps=3),
        canvas_length=16,
        sampling=Sampling(temperature=0.9, seed=5),
        stop=("\n",),
        top_logprobs=2,
    )

    async def one(backend: Backend) -> Any:  # noqa: ANN401 - a generation
        return await backend.generate(request)

    near, far = run(local(), one), run(open_remote(url, "nano", kind=Kind.UNMASK), one)

    assert (far.text, far.finish_reason, cost(far.usage)) == (near.text, near.finish_reason, cost(near.usage))
    assert far.usage.steps_used <= 3 * far.usage.canvases
    assert [token.chosen.data for token in far.logprobs] == [token.chosen.data for token in near.logprobs]
    assert [token.chosen.logprob for token in far.logprobs] == pytest.approx(
        [token.chosen.logprob for token in near.logprobs], abs=1e-4
    )


def test_model_is_described_by_its_server(url: str) -> None:
    """One of our own says nearly all of it; of any other server little is known, and no more is claimed."""
    (near,) = local().models()
    (ours,) = open_remote(url, "nano", kind=Kind.UNMASK).models()
    (foreign,) = open_remote(url, "nano").models()

    assert ours == replace(
        near, levers=(Lever.BUDGET, Lever.STRATEGY, Lever.LOGPROBS), precisions=(), is_deterministic=False
    )
    assert (foreign.parameters, foreign.precision, foreign.canvas_lengths, foreign.levers) == (None, None, (), ())
    assert foreign.context_length == near.context_length
    assert foreign.digest != near.digest


def test_model_that_is_not_there(url: str) -> None:
    """One of our own servers has to say what it serves."""
    with pytest.raises(UpstreamProtocolError, match="serves no model 'huge', allowed: 'nano'"):
        open_remote(url, "huge", kind=Kind.UNMASK)


def test_refusal_of_the_server_is_told(url: str) -> None:
    """What the server refuses is refused in its words."""

    async def one(backend: Backend) -> None:
        with pytest.raises(RequestRefusedError, match=r"answers 400: .*canvas_length"):
            await backend.generate(make_request("add 1 + 1", canvas_length=7))

    run(open_remote(url, "nano", kind=Kind.UNMASK), one)


@pytest.mark.parametrize("steps", [2, 16])
def test_ours_as_a_vllm(url: str, steps: int) -> None:
    """Our own server takes caps as a vLLM does, and says itself what it took, so that nothing is estimated."""
    entry = UpstreamSettings(name="ours", url=url)
    launched = VllmSettings(canvas_length=16, max_steps=16, canvas_lengths=(8,))
    model = RemoteModel(name="nano", upstream_model="nano", upstreams=(entry,), kind=Kind.VLLM, vllm=launched)
    request = make_request("add 12 + 30", budget=StepBudget(max_steps=steps), canvas_length=8)

    async def one(backend: Backend) -> Any:  # noqa: ANN401 - a generation
        return await backend.generate(request)

    near, far = run(local(), one), run(open_backend(RemoteSettings(models=(model,))), one)

    assert (far.text, cost(far.usage)) == (near.text, cost(near.usage))
    assert (far.usage.steps_known, far.usage.steps_estimated, far.usage.cap_ignored) == (True, False, False)


@pytest.mark.parametrize("kind", [Kind.VLLM, Kind.SGLANG])
def test_an_address_is_not_enough_for_an_engine(url: str, kind: Kind) -> None:
    """How it was launched has to be said, or no budget would mean anything."""
    with pytest.raises(ConfigError, match=f"kind of nano is {kind}, and nothing says how it was launched"):
        open_remote(url, "nano", kind=kind)


def test_leaving_aborts_the_generation_there() -> None:
    """Whoever leaves here stops the engine behind the server."""
    gate = asyncio.Event()
    fake = FakeBackend("안녕", gate=gate)
    with serving(fake) as site:

        async def leave(backend: Backend) -> None:
            request = replace(make_request("hold"), model="tiny")
            task = asyncio.create_task(backend.generate(request))
            async with asyncio.timeout(10):
                while not fake.requests:  # noqa: ASYNC110 - another thread's
                    await asyncio.sleep(0.001)
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
                while not fake.aborted:  # noqa: ASYNC110 - another thread's
                    await asyncio.sleep(0.001)

        run(open_remote(f"{site.url}/v1", "tiny"), leave)
    assert len(fake.aborted) == 1


def test_parts_come_as_they_are_made(url: str) -> None:
    """A stream has a part for every canvas."""

    async def parts(backend: Backend) -> list[CommitEvent]:
        request = replace(make_request("sort 5 3 9 1 7 2", canvas_length=8), max_tokens=32)
        return [event async for event in backend.stream(request) if isinstance(event, CommitEvent)]

    near = [event.text for event in run(local(), parts) if event.text]

    assert [event.text for event in run(open_remote(url, "nano", kind=Kind.UNMASK), parts)] == near
