"""Behaviour of `unmask.api.callers`: what a web page from elsewhere can reach."""

import httpx
import pytest

from tests.api.client import CHAT, chat_body, client_of, make_app
from unmask.config import Settings
from unmask.testing.fake_backend import FakeBackend


async def post(headers: dict[str, str], *, allowed: tuple[str, ...] = ()) -> tuple[httpx.Response, FakeBackend]:
    """Send a chat request; return the answer and the backend, which knows whether it was asked."""
    backend = FakeBackend()
    async with client_of(make_app(backend, settings=Settings(allowed_hosts=allowed))) as client:
        return await client.post(CHAT, json=chat_body(), headers=headers), backend


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:8000", "127.0.0.1", "127.0.0.1:8000", "127.1.2.3", "[::1]", "[::1]:8000"]
)
async def test_own_names_are_answered(host: str) -> None:
    """Every way to write this machine, with or without a port."""
    response, _ = await post({"host": host})

    assert response.status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "example.org",
        "example.org:8000",
        "localhost.example.org",
        "127.0.0.1.example.org",
        "0.0.0.0",  # noqa: S104 - refused
        "192.168.0.7",
        "",
        ":8000",
        "[::1",
        "[::ffff:1.2.3.4]",
        "a b",
        "x" * 5000,
    ],
)
async def test_other_names_are_refused(host: str) -> None:
    """A page whose name was made to point here carries that name; nothing runs for it."""
    response, backend = await post({"host": host})

    assert (response.status_code, response.json()["error"]["code"]) == (403, "host_not_allowed")
    assert "allowed_hosts" in response.json()["error"]["message"]
    assert len(response.content) < 400
    assert backend.requests == []


@pytest.mark.parametrize("origin", ["http://localhost:3000", "http://127.0.0.1", "https://[::1]:8443"])
async def test_pages_of_this_machine_are_answered(origin: str) -> None:
    """Whoever can open a port here can call the server anyway."""
    response, _ = await post({"origin": origin})

    assert response.status_code == 200


@pytest.mark.parametrize(
    "origin",
    ["https://example.org", "null", "http://localhost.example.org", "file://", "http://[::1", "chrome-extension://x"],
)
async def test_pages_from_elsewhere_are_refused(origin: str) -> None:
    """A page may send JSON as text without asking first; the browser says whose it is, and nothing runs for it."""
    response, backend = await post({"origin": origin, "content-type": "text/plain"})

    assert (response.status_code, response.json()["error"]["code"]) == (403, "origin_not_allowed")
    assert backend.requests == []


async def test_allowed_hosts_are_answered() -> None:
    """A proxy's public name, in any case and with any port, for both headers."""
    allowed = {"host": "API.example.org:443", "origin": "https://api.example.org"}
    named, _ = await post(allowed, allowed=("api.Example.org",))
    other, _ = await post({"host": "example.org"}, allowed=("api.example.org",))

    assert (named.status_code, other.status_code) == (200, 403)


async def test_no_answer_lets_pages_read_it() -> None:
    """No CORS header anywhere, so a browser keeps answers from pages of other origins."""
    async with client_of(make_app()) as client:
        asked = {"origin": "http://localhost:3000", "access-control-request-method": "POST"}
        answers = [
            await client.options(CHAT, headers=asked),
            await client.get("/health", headers=asked),
            await client.post(CHAT, json=chat_body(), headers=asked),
        ]

    assert [answer.status_code for answer in answers] == [405, 200, 200]
    assert not [name for answer in answers for name in answer.headers if name.startswith("access-control-")]


async def test_refusals_have_a_request_id() -> None:
    """Refused or not, an answer can be found in a log."""
    response, _ = await post({"host": "example.org", "x-request-id": "mine"})

    assert response.headers["x-request-id"] == "mine"
