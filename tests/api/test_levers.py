"""Requests to models whose servers lack levers or do not say what they took."""

from typing import Any

import pytest

from tests.api.client import CHAT, chat_body, client_of, make_app
from unmask.backend import Lever, Usage
from unmask.testing.builders import make_generation, make_model, make_usage
from unmask.testing.fake_backend import FakeBackend

FAR = make_model("tiny", levers=(), canvas_lengths=(), default_canvas_length=1, max_steps=1, default_steps=1)
FIELDS: dict[str, dict[str, Any]] = {
    "diffusion.max_steps": {"diffusion": {"max_steps": 1}},
    "diffusion.max_total_steps": {"diffusion": {"max_total_steps": 9}},
    "diffusion.min_steps": {"diffusion": {"min_steps": 1}},
    "diffusion.canvas_length": {"diffusion": {"canvas_length": 16}},
    "num_denoising_steps": {"num_denoising_steps": 1},
    "vllm_xargs.diffusion_max_steps": {"vllm_xargs": {"diffusion_max_steps": 1}},
    "vllm_xargs.diffusion_canvas_length": {"vllm_xargs": {"diffusion_canvas_length": 16}},
    "reasoning_effort": {"reasoning_effort": "low"},
}


@pytest.mark.parametrize("param", FIELDS)
async def test_steps_are_refused_where_nobody_heeds_them(param: str) -> None:
    """Under the name that the client used; the backend is not asked."""
    backend = FakeBackend(models=(FAR,))
    async with client_of(make_app(backend)) as client:
        error = (await client.post(CHAT, json=chat_body(**FIELDS[param]))).json()["error"]

    assert (error["code"], error["param"]) == ("unsupported_parameter", param)
    assert "served by another server" in error["message"]
    assert backend.requests == []


@pytest.mark.parametrize(
    ("field", "value"), [("strategy", "low_confidence"), ("strategy", "klass"), ("threshold", 0.5), ("window", 4)]
)
async def test_strategies_are_refused_where_a_model_has_its_own(field: str, value: object) -> None:
    """The default one too, where a client names it: it is not what the model does."""
    backend = FakeBackend(models=(make_model("noisy", levers=(Lever.BUDGET,)),))
    async with client_of(make_app(backend)) as client:
        answer = await client.post(CHAT, json=chat_body(model="noisy", diffusion={field: value}))

    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "unsupported_parameter")
    assert answer.json()["error"]["param"] == f"diffusion.{field}"
    assert backend.requests == []


async def test_silence_is_no_request_for_steps() -> None:
    """A body that says nothing of steps reaches the backend without any."""
    backend = FakeBackend(models=(FAR,))
    async with client_of(make_app(backend)) as client:
        assert (await client.post(CHAT, json=chat_body())).status_code == 200

    (request,) = backend.requests
    assert (request.budget, request.canvas_length, request.bucket) == (None, None, None)


async def test_levers_are_listed() -> None:
    """The list of models says what may be set of each."""
    backend = FakeBackend(models=(FAR, make_model("ours", levers=(Lever.BUDGET,), parameters=None, precision=None)))
    async with client_of(make_app(backend)) as client:
        far, ours = (await client.get("/v1/models")).json()["data"]

    assert (far["levers"], far["canvas_lengths"]) == ([], [])
    assert (ours["levers"], ours["parameters"], ours["precision"]) == (["budget"], None, None)


def unknown(**changes: Any) -> Usage:  # noqa: ANN401 - any field of the usage
    """Return the usage of a server that does not say its steps."""
    return make_usage(steps_used=0, steps_allocated=0, canvases=0, steps_known=False, **changes)


async def test_unknown_steps_are_said_to_be_unknown() -> None:
    """No header counts them, and the usage marks them."""
    backend = FakeBackend(models=(FAR,), generation=make_generation("42", usage=unknown(tokens_known=False)))
    async with client_of(make_app(backend)) as client:
        response = await client.post(CHAT, json=chat_body())
        metrics = (await client.get("/metrics")).text

    found = response.json()["usage"]["diffusion"]
    assert (found["steps_used"], found["steps_known"], found["tokens_known"]) == (0, False, False)
    assert "x-unmask-steps" not in response.headers
    assert 'unmask_generation_steps_count{model="tiny"} 0.0' in metrics
