"""Behaviour of ``/v1/models`` and ``/health``."""

from tests.api.client import NOW, client_of, make_app
from unmask.api.running import Running
from unmask.testing.builders import make_model
from unmask.testing.fake_backend import FakeBackend


async def test_models_say_what_may_be_asked_of_them() -> None:
    """Every served model is listed with its limits."""
    backend = FakeBackend(models=(make_model("tiny"), make_model("nano", max_steps=8)))
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
        "context_length": 256,
        "canvas_length": 16,
        "canvas_lengths": [8, 16, 32],
        "max_steps": 8,
        "default_steps": 16,
        "default_max_tokens": 64,
        "tasks": ["arithmetic", "sort"],
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


async def test_health_follows_the_drain() -> None:
    """The server is ready until it drains, and then says so."""
    running = Running(1)
    async with client_of(make_app(running=running)) as client:
        before = await client.get("/health")
        running.begin_drain()
        after = await client.get("/health")

    assert (before.status_code, before.json()) == (200, {"live": True, "ready": True, "reasons": []})
    assert (after.status_code, after.json()) == (503, {"live": True, "ready": False, "reasons": ["draining"]})


async def test_health_tells_what_keeps_the_backend_from_serving() -> None:
    """A backend whose engine has stopped makes the server not ready, with the reason."""
    async with client_of(make_app(FakeBackend(problems=("engine of tiny has stopped",)))) as client:
        response = await client.get("/health")

    assert response.status_code == 503
    assert response.json()["reasons"] == ["engine of tiny has stopped"]
