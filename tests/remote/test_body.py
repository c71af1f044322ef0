"""Behaviour of `unmask.remote.body`: what an upstream cannot do is refused by name, and sent by nobody."""

from dataclasses import replace
from typing import Any

import pytest

from tests.remote.remotes import make_request, make_settings, remote
from unmask.backend import Lever, Request
from unmask.errors import InvalidRequestError
from unmask.remote.body import body_of, check_request
from unmask.remote.errors import UnsupportedByUpstreamError, UpstreamProtocolError
from unmask.remote.settings import Kind
from unmask.strategy import StrategyChoice, StrategyName
from unmask.testing.builders import make_model
from unmask.testing.fake_upstream import answer, chunk, event, streaming
from unmask.types import Draft, ExitPlan, ExitRule, Mode, Sampling, StepBudget

LEVERS: dict[str, tuple[Lever, dict[str, Any]]] = {
    "diffusion.max_steps": (Lever.BUDGET, {"budget": StepBudget(max_steps=4)}),
    "diffusion.canvas_length": (Lever.BUDGET, {"canvas_length": 16}),
    "diffusion.strategy": (Lever.STRATEGY, {"strategy": StrategyChoice(name=StrategyName.KLASS)}),
    "exit": (Lever.EXIT, {"exit": ExitPlan(rule=ExitRule())}),
    "draft": (Lever.DRAFT, {"draft": Draft(tokens=(1, None))}),
    "snapshots": (Lever.SNAPSHOTS, {"snapshots": True}),
    "trace": (Lever.TRACE, {"trace": True}),
    "logprobs": (Lever.LOGPROBS, {"top_logprobs": 2}),
}
VALUES: dict[str, dict[str, Any]] = {
    "temperature": {"sampling": Sampling(temperature=3)},
    "top_p": {"sampling": Sampling(top_p=0)},
    "stop": {"stop": ("",)},
    "max_tokens": {"max_tokens": 0},
}


@pytest.mark.parametrize("param", LEVERS)
async def test_what_a_foreign_server_cannot_do_is_refused(param: str) -> None:
    """The refusal names the field; nothing goes out."""
    async with remote(streaming(*answer("2"))) as far:
        with pytest.raises(UnsupportedByUpstreamError, match="far is served by another server") as caught:
            await far.backend.generate(make_request(**LEVERS[param][1]))

        assert (caught.value.param, far.asked) == (param, 0)


@pytest.mark.parametrize("param", LEVERS)
def test_a_lever_that_is_there_may_be_pulled(param: str) -> None:
    """What is refused is a matter of the model's levers, and of nothing else."""
    lever, fields = LEVERS[param]

    check_request(make_request(**fields), make_model("far", levers=(lever,)), Kind.OPENAI)


@pytest.mark.parametrize("mode", Mode)
def test_what_nobody_asked_for_is_not_refused(mode: Mode) -> None:
    """A request that leaves steps alone passes, whichever mode it was made with: diffusion is the default of it."""
    check_request(make_request(mode=mode), make_model("far", levers=()), Kind.OPENAI)


@pytest.mark.parametrize("param", VALUES)
def test_values_no_server_takes(param: str) -> None:
    """They are refused here, where the message is ours."""
    with pytest.raises(InvalidRequestError) as caught:
        check_request(make_request(**VALUES[param]), make_model("far"), Kind.OPENAI)

    assert caught.value.param == param


def ours(request: Request) -> dict[str, object]:
    """Return what one of our own servers is sent."""
    return body_of(request, make_settings("http://h", kind=Kind.UNMASK), 64)


def test_our_own_servers_are_told_of_steps() -> None:
    """Of what the request says, and of nothing that it leaves to the server."""
    strategy = StrategyChoice(name=StrategyName.ENTROPY_BOUND, threshold=0.5)
    request = make_request(budget=StepBudget(max_steps=4, max_total_steps=9), canvas_length=16, strategy=strategy)

    assert ours(request)["diffusion"] == {
        "max_reexpansions": 0,
        "search": "none",
        "max_steps": 4,
        "max_total_steps": 9,
        "canvas_length": 16,
        "strategy": "entropy_bound",
        "threshold": 0.5,
    }
    assert ours(make_request())["diffusion"] == {"max_reexpansions": 0, "search": "none"}


def test_our_own_servers_are_told_of_sessions() -> None:
    """They may have replicas of their own; other servers may not know the field."""
    request = make_request(session="대화 7")

    assert ours(request)["prompt_cache_key"] == "대화 7"
    assert "prompt_cache_key" not in ours(make_request())
    assert "prompt_cache_key" not in body_of(request, make_settings("http://h"), 64)


def test_our_own_servers_cannot_be_told_all() -> None:
    """The mode and learned strategies have no field over HTTP."""
    model = make_model("far")
    for request, param in (
        (make_request(mode=Mode.AUTOREGRESSIVE), "mode"),
        (make_request(strategy=StrategyChoice(name=StrategyName.FINALITY)), "diffusion.strategy"),
    ):
        with pytest.raises(UnsupportedByUpstreamError) as caught:
            check_request(request, model, Kind.UNMASK)
        assert caught.value.param == param


LOGPROBS = {
    "content": [
        {
            "token": "안",
            "logprob": -0.5,
            "bytes": [236, 149, 136],
            "top_logprobs": [{"token": "x", "logprob": -2.0}, {"token": "안", "logprob": -0.5}],
        }
    ]
}


async def test_logprobs_come_through() -> None:
    """Where the operator says that the servers give them."""
    script = streaming(chunk("안", logprobs=LOGPROBS), *answer("")[1:])
    async with remote(script, has_logprobs=True) as far:
        generation = await far.backend.generate(make_request(top_logprobs=2))
        body = far.upstreams[0].exchanges[0].json

    assert (body["logprobs"], body["top_logprobs"]) == (True, 2)
    (token,) = generation.logprobs
    assert (token.chosen.data.decode(), token.chosen.logprob) == ("안", -0.5)
    assert [one.data for one in token.top] == ["안".encode(), b"x"]


async def test_logprobs_that_do_not_come() -> None:
    """An answer that lacks them is not passed for one that has them."""
    async with remote(streaming(*answer("2")), has_logprobs=True) as far:
        with pytest.raises(UpstreamProtocolError, match="no log-probabilities"):
            await far.backend.generate(make_request(top_logprobs=0))


async def test_steps_of_a_server_that_says_them() -> None:
    """They are taken over, unless that server says that it does not know them itself."""
    steps = {"steps_allocated": 16, "steps_used": 5, "canvases": 2, "exit_reason": "early_exit"}
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "diffusion": steps}
    unknown = {**usage, "diffusion": {**steps, "steps_known": False}}
    scripts = [
        streaming(chunk("2", finish_reason="stop"), event({"choices": [], "usage": one})) for one in (usage, unknown)
    ]
    async with remote(*scripts) as far:
        known, other = [(await far.backend.generate(make_request())).usage for _ in scripts]

        assert [load.steps for load in far.backend.load()] == [5]
    assert (known.steps_known, known.steps_used, known.canvases, known.exit_reason) == (True, 5, 2, "early_exit")
    assert (other.steps_known, other.steps_used, other.canvases) == (False, 0, 0)


async def test_usage_may_be_switched_off() -> None:
    """For servers that refuse the field."""
    async with remote(streaming(*answer("2")), include_usage=False) as far:
        await far.backend.generate(make_request())

        assert "stream_options" not in far.upstreams[0].exchanges[0].json


def test_bodies_have_no_more_than_the_request() -> None:
    """Stop texts are sent where there are any."""
    assert "stop" not in ours(make_request())
    assert ours(replace(make_request(), stop=("끝",)))["stop"] == ["끝"]
