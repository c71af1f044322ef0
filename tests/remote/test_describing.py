"""Behaviour of `unmask.remote.describing`: what is believed of what servers say of their models."""

import asyncio
import json
from typing import Any

import pytest

from tests.remote.remotes import make_settings
from unmask.backend import ModelInfo
from unmask.errors import ConfigError
from unmask.remote.describing import LARGEST_LIST, described, digest_of
from unmask.remote.errors import ForbiddenAddressError, UpstreamError, UpstreamProtocolError
from unmask.remote.key import Key
from unmask.remote.opening import open_remote
from unmask.remote.settings import Kind, RemoteModel, UpstreamSettings
from unmask.testing.fake_upstream import FakeUpstream, Script, answering, resetting
from unmask.types import ApproximateCache, ApproximateKv, Precision

OURS = {
    "id": "m",
    "digest": "0123456789abcdef",
    "parameters": 5,
    "precision": "bfloat16",
    "approximate_cache": "dual",
    "approximate_cache_refresh": 4,
    "context_length": 256,
    "canvas_length": 16,
    "canvas_lengths": [8, 16],
    "max_steps": 32,
    "default_steps": 16,
    "default_max_tokens": 64,
    "tasks": ["sort", "default"],
}


def listing(*entries: object) -> Script:
    """Return a script that lists models."""
    return answering(200, json.dumps({"object": "list", "data": entries}).encode())


async def describe(*scripts: Script, **changes: Any) -> tuple[ModelInfo, FakeUpstream]:  # noqa: ANN401 - any field
    """Return what is said of a model behind an upstream, and the upstream."""
    async with FakeUpstream(*scripts).listening() as upstream:
        model = make_settings(upstream.url, asks_models=True, **changes)
        pairs = [(one, Key("secret")) for one in model.upstreams]
        return await asyncio.to_thread(described, model, pairs), upstream


async def test_little_is_known_of_other_servers() -> None:
    """A context length is believed where it is the smaller one; the key is sent; no field is made up."""
    info, upstream = await describe(listing({"id": "other"}, {"id": "m", "max_model_len": 500, "owned_by": "x"}))

    assert (info.context_length, info.default_max_tokens) == (500, 500)
    assert (info.parameters, info.precision, info.canvas_lengths, info.levers) == (None, None, (), ())
    assert info.approximate is None
    assert (info.default_canvas_length, info.max_steps, info.default_steps) == (1, 1, 1)
    (exchange,) = upstream.exchanges
    assert (exchange.target, exchange.headers["authorization"]) == ("/v1/models", "Bearer secret")


async def test_context_is_never_longer_than_configured() -> None:
    """What the operator says is a limit."""
    info, _ = await describe(listing({"id": "m", "context_length": 10**9}), context_length=100)

    assert info.context_length == 100


SILENT: dict[str, Script] = {
    "no connection": resetting,
    "no list": answering(404, b"{}"),
    "a redirect": answering(302, location="http://127.0.0.1:1/"),
    "no JSON": answering(200, b"<html>"),
    "another shape": answering(200, b'{"data": 5}'),
    "another model": listing({"id": "n"}),
    "an odd type": listing({"id": "m", "max_model_len": "long"}),
    "too much": answering(200, b" " * (LARGEST_LIST + 1)),
}


@pytest.mark.parametrize("name", SILENT)
async def test_servers_that_say_nothing(name: str) -> None:
    """Many servers list nothing, which is no fault; one of our own always does."""
    info, _ = await describe(SILENT[name])
    with pytest.raises(UpstreamError, match="upstream up1"):
        await describe(SILENT[name], kind=Kind.UNMASK)

    assert (info.name, info.context_length) == ("far", 131_072)


async def test_our_own_servers_say_all() -> None:
    """It is taken over, the type that stands for none aside."""
    info, _ = await describe(listing(OURS), kind=Kind.UNMASK)

    assert (info.digest, info.parameters, info.precision) == ("0123456789abcdef", 5, Precision.BFLOAT16)
    assert info.approximate == ApproximateKv(cache=ApproximateCache.DUAL, refresh=4)
    assert (info.canvas_lengths, info.default_canvas_length, info.tasks) == ((8, 16), 16, ("sort",))
    assert (info.max_steps, info.default_steps, info.default_max_tokens) == (32, 16, 64)


async def test_server_that_only_seems_to_be_ours() -> None:
    """A list without digest and steps is not one of ours."""
    with pytest.raises(UpstreamProtocolError, match="our own servers say"):
        await describe(listing({"id": "m"}), kind=Kind.UNMASK)


async def test_levers_behind_our_own_server() -> None:
    """A server of ours that is in front of another one passes on what that one lacks."""
    info, _ = await describe(listing({**OURS, "levers": ["logprobs", "draft", "new"]}), kind=Kind.UNMASK)

    assert info.levers == ("logprobs",)


def test_digest_stands_for_what_is_asked_for() -> None:
    """It changes with the model asked for, its revision and its names, and with nothing else."""

    def of(**changes: Any) -> str:  # noqa: ANN401 - any field of the model
        return digest_of(make_settings("http://h", **changes))

    same = {of(), of(default_max_tokens=3), digest_of(make_settings("http://elsewhere"))}
    assert len(same) == 1
    assert len({*same, of(revision="2"), of(answers_as=("m",)), of(upstream_model="n"), of(answers_as=("n",))}) == 5


def test_operator_may_know_the_digest() -> None:
    """Then it is this one."""
    model = make_settings("http://h", digest="feedfacefeedface")

    assert described(model, []).digest == "feedfacefeedface"


def test_opening_refuses_bad_addresses_and_keys() -> None:
    """A command that is given an address is held to the same rules."""
    with pytest.raises(ConfigError, match="credentials"):
        open_remote("http://u:p@h/v1", "m")
    with pytest.raises(ConfigError, match="NOT_THERE is not set"):
        open_remote("http://127.0.0.1:1/v1", "m", "NOT_THERE", environ={})


def test_lists_are_not_asked_for_at_forbidden_addresses() -> None:
    """The rules of addresses hold for the question as for requests."""
    entry = UpstreamSettings(name="meta", url="http://169.254.169.254/v1")
    model = RemoteModel(name="far", upstream_model="m", upstreams=(entry,), kind=Kind.UNMASK)
    with pytest.raises(ForbiddenAddressError, match="upstream meta"):
        described(model, [(entry, Key())])
