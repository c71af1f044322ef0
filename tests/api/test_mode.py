"""How a body asks for its answer to be written, and what does not go with that."""

from typing import Any

import pytest

from tests.api.client import CHAT, chat_body, client_of, make_app, user
from unmask.testing.builders import make_generation, make_model, make_usage
from unmask.testing.fake_backend import FakeBackend
from unmask.types import Mode


async def chat(backend: FakeBackend, changes: dict[str, Any]) -> Any:  # noqa: ANN401 - a response
    """Send a chat request."""
    async with client_of(make_app(backend)) as client:
        return await client.post(CHAT, json=chat_body(messages=user("3 더하기 4"), **changes))


@pytest.mark.parametrize("mode", [None, *Mode])
async def test_a_mode_reaches_the_backend(mode: Mode | None) -> None:
    """Without one answers are denoised."""
    backend = FakeBackend()
    response = await chat(backend, {"diffusion": {"mode": mode}})

    assert response.status_code == 200, response.text
    assert backend.requests[0].mode is (mode or Mode.DIFFUSION)


async def test_usage_says_what_was_accepted() -> None:
    """Drafted and accepted tokens, and the accepted ones a round."""
    usage = make_usage(completion_tokens=30, steps_used=8, drafted=40, accepted=22)
    response = await chat(FakeBackend(generation=make_generation(usage=usage)), {"diffusion": {"mode": "speculative"}})

    spent = response.json()["usage"]["diffusion"]
    assert (spent["drafted"], spent["accepted"], spent["accepted_per_round"]) == (40, 22, 2.75)
    assert spent["tokens_per_step"] == 3.75


@pytest.mark.parametrize(
    ("changes", "param"),
    [
        ({"diffusion": {"mode": "fast"}}, "diffusion.mode"),
        ({"diffusion": {"mode": "speculative"}, "temperature": 0.7}, "temperature"),
        ({"diffusion": {"mode": "speculative", "strategy": "klass"}}, "diffusion.strategy"),
        ({"diffusion": {"mode": "autoregressive", "threshold": 0.0}}, "diffusion.threshold"),
        ({"diffusion": {"mode": "autoregressive", "window": 3}}, "diffusion.window"),
        ({"diffusion": {"mode": "autoregressive", "canvas_length": 8}}, "diffusion.canvas_length"),
        (
            {"diffusion": {"mode": "autoregressive"}, "vllm_xargs": {"diffusion_canvas_length": 8}},
            "vllm_xargs.diffusion_canvas_length",
        ),
        ({"diffusion": {"mode": "speculative", "search": "candidates"}}, "diffusion.search"),
        ({"diffusion": {"mode": "speculative", "stream": "snapshots"}, "stream": True}, "diffusion.stream"),
    ],
)
async def test_what_means_nothing_in_a_mode_is_refused(changes: dict[str, Any], param: str) -> None:
    """By its name, before anything runs."""
    backend = FakeBackend()
    response = await chat(backend, changes)

    assert (response.status_code, response.json()["error"]["param"]) == (400, param)
    assert backend.requests == []


async def test_a_model_elsewhere_is_told_of_no_mode() -> None:
    """A server that would not heed it is not asked."""
    far = FakeBackend(models=(make_model("tiny", levers=()),))
    response = await chat(far, {"diffusion": {"mode": "autoregressive"}})

    assert (response.status_code, response.json()["error"]["param"]) == (400, "diffusion.mode")
