"""Behaviour of ``/v1/models``."""

from typing import Any

from tests.api.client import NOW, client_of, make_app
from unmask.testing.builders import make_model
from unmask.testing.fake_backend import FakeBackend
from unmask.types import ApproximateCache, ApproximateKv, Precision

NANO: dict[str, Any] = {
    "max_steps": 8,
    "precision": Precision.BFLOAT16,
    "precisions": (Precision.BFLOAT16, Precision.INT8),
    "approximate": ApproximateKv(cache=ApproximateCache.DUAL, refresh=4),
}


async def test_models_say_what_may_be_asked_of_them() -> None:
    """Every served model is listed with its limits."""
    backend = FakeBackend(models=(make_model("tiny"), make_model("nano", **NANO)))
    async with client_of(make_app(backend)) as client:
        body = (await client.get("/v1/models")).json()

    assert body["object"] == "list"
    assert [model["id"] for model in body["data"]] == ["tiny", "nano"]
    assert body["data"][1] == {
        "id": "nano",
        "object": "model",
        "created": int(NOW),
        "owned_by": "unmask",
        "digest": "0123456789abcdef",
        "parameters": 2_000_000,
        "precision": "bfloat16",
        "precisions": ["bfloat16", "int8"],
        "approximate_cache": "dual",
        "approximate_cache_refresh": 4,
        "context_length": 256,
        "canvas_length": 16,
        "canvas_lengths": [8, 16, 32],
        "max_steps": 8,
        "default_steps": 16,
        "default_max_tokens": 64,
        "levers": ["budget", "strategy", "exit", "draft", "snapshots", "trace", "logprobs", "mode"],
        "tasks": ["arithmetic", "sort", "default"],
        "service_classes": [],
        "policy": "fixed",
    }


async def test_one_model_is_shown() -> None:
    """A model's own address shows its entry of the list, slashes in the name included."""
    backend = FakeBackend(models=(make_model("tiny"), make_model("team/large")))
    async with client_of(make_app(backend)) as client:
        entries = (await client.get("/v1/models")).json()["data"]
        shown = [(await client.get(f"/v1/models/{name}")).json() for name in ("tiny", "team/large")]

    assert shown == entries


async def test_unknown_model_is_404() -> None:
    """A model that is not served is not found, and the error names the parameter."""
    async with client_of(make_app()) as client:
        for name in ("no-such", ""):
            response = await client.get(f"/v1/models/{name}")

            assert response.status_code == 404
            assert response.json()["error"]["param"] == "model"
