"""Behaviour of `unmask.app.keys`, and of a server that asks for keys."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.app.site import BODY, CHAT, open_site
from unmask.api.application import create_app, system_chance
from unmask.api.running import Running
from unmask.app.books import opened_engine
from unmask.app.keys import authenticator_in, opened_store, pepper_of
from unmask.app.serve import listen
from unmask.config import Settings
from unmask.config.choices import KeyMode
from unmask.tenants.authenticator import Authenticator
from unmask.tenants.errors import KeyRefusedError, PepperError
from unmask.tenants.token import SECRET_LENGTH, Token
from unmask.testing.fake_backend import FakeBackend
from unmask.testing.tenants import FakeAuthenticator, make_key, make_tenant

TOKEN = Token(public_id="aaaaaaaaaaaa", secret="s" * SECRET_LENGTH)
REQUIRED = Settings(keys=KeyMode.REQUIRED, port=0)


@contextmanager
def opened_keys(settings: Settings, environ: dict[str, str]) -> Iterator[Authenticator | None]:
    """Open the database, and what tells who makes a request."""
    with opened_engine(settings, environ) as engine:
        yield None if engine is None else authenticator_in(engine, settings, environ)


@pytest.fixture(name="environ")
def _environ(tmp_path: Path) -> dict[str, str]:
    """Return an environment whose folder of state has a database with a key."""
    environ = {"XDG_STATE_HOME": str(tmp_path)}
    with opened_store(REQUIRED, environ) as store:
        store.create_tenant(make_tenant())
        store.create_key(make_key(), TOKEN, pepper_of(REQUIRED, environ))
    return environ


async def test_a_key_that_was_made_opens_the_server(environ: dict[str, str]) -> None:
    """From the database and the pepper's file to an answer; what is disabled meanwhile stops."""
    backend = FakeBackend()
    with opened_keys(REQUIRED, environ) as keys:
        app = create_app(backend, REQUIRED, Running(10), system_chance(), keys=keys)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://gpu.example") as client:
            bearer = {"authorization": f"Bearer {TOKEN.text}"}
            answered = await client.post(CHAT, json=BODY, headers=bearer)
            stranger = await client.post(CHAT, json=BODY)

    assert (answered.status_code, stranger.status_code) == (200, 401)
    assert backend.requests[0].tenant == "acme"
    assert (Path(environ["XDG_STATE_HOME"]) / "unmask" / "pepper").exists()


def test_without_keys_nothing_is_opened(tmp_path: Path) -> None:
    """A server of one's own needs neither database nor pepper for them."""
    with opened_keys(Settings(), {"XDG_STATE_HOME": str(tmp_path)}) as keys:
        assert keys is None

    assert list(tmp_path.iterdir()) == []


async def test_a_lost_pepper_stops_the_start(environ: dict[str, str]) -> None:
    """A server that would refuse every key says why at once; the pepper put back, all is well."""
    path = Path(environ["XDG_STATE_HOME"]) / "unmask" / "pepper"
    kept = path.rename(path.with_name("kept"))
    with (
        pytest.raises(PepperError, match="which the keys in the database were made with"),
        opened_keys(REQUIRED, environ),
    ):
        pass
    kept.replace(path)

    with opened_keys(REQUIRED, environ) as keys:
        assert keys is not None
        assert (await keys.authenticate(TOKEN.text)).tenant == "acme"
        overview = await keys.overview("acme")
        assert (overview.tenant.name, [key.public_id for key in overview.keys]) == ("acme", ["aaaaaaaaaaaa"])
        with pytest.raises(KeyRefusedError):
            await keys.authenticate(TOKEN.text[:-1])


def test_with_keys_another_address_is_listened_on() -> None:
    """Without them the start would stop here."""
    settings = Settings(keys=KeyMode.REQUIRED, host="0.0.0.0", port=0)  # noqa: S104 - with keys
    with listen(settings) as listener:
        assert listener.getsockname()[0] == settings.host
    with pytest.raises(AssertionError):
        listen(Settings(host="0.0.0.0", port=0))  # noqa: S104 - refused


async def test_a_proxy_beside_the_server_says_whose_keys_are_wrong() -> None:
    """What it says in `x-forwarded-for` is believed, so that its clients are counted apart; its own address is not."""
    settings = Settings(port=0, keys=KeyMode.REQUIRED, wrong_key_limit=2)
    app = create_app(FakeBackend(), settings, Running(1), system_chance(), keys=FakeAuthenticator({}))
    async with open_site(app=app) as site:

        async def wrong(asked_by: str = "") -> list[int]:
            headers = {"authorization": "Bearer wrong"} | ({"x-forwarded-for": asked_by} if asked_by else {})
            return [(await site.client.get("/v1/models", headers=headers)).status_code for _ in range(3)]

        assert await wrong() == [401] * 3
        assert await wrong(asked_by="203.0.113.7") == [401, 401, 429]
        assert await wrong(asked_by="203.0.113.8") == [401, 401, 429]
