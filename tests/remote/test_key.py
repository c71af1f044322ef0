"""Behaviour of `unmask.remote.key`: keys are sent, and shown nowhere."""

import json
import logging
from pathlib import Path

import pytest

from tests.remote.remotes import make_request, remote
from unmask.errors import ConfigError
from unmask.remote.errors import RequestRefusedError
from unmask.remote.key import Key, read_key
from unmask.remote.settings import KeySource
from unmask.testing.fake_upstream import answer, answering, streaming

SECRET = "sk-very-secret-1234567890"
FROM_ENV = {"key": KeySource(env="FAR_KEY")}


async def test_key_is_sent_and_never_logged(caplog: pytest.LogCaptureFixture) -> None:
    """It goes to the upstream, and into no log however talkative."""
    caplog.set_level(logging.DEBUG)
    async with remote(streaming(*answer("2")), upstream=FROM_ENV, environ={"FAR_KEY": f" {SECRET}\n"}) as far:
        await far.backend.generate(make_request())

        assert far.upstreams[0].exchanges[0].headers["authorization"] == f"Bearer {SECRET}"
    assert SECRET not in caplog.text


async def test_upstream_that_repeats_the_key() -> None:
    """A message of an upstream is passed on without the key."""
    body = json.dumps({"error": {"message": f"bad field near {SECRET}"}}).encode()
    async with remote(answering(400, body), upstream=FROM_ENV, environ={"FAR_KEY": SECRET}) as far:
        with pytest.raises(RequestRefusedError, match="near \\[key\\]"):
            await far.backend.generate(make_request())


def test_key_from_a_file(tmp_path: Path) -> None:
    """White space around it does not count."""
    path = tmp_path / "key"
    path.write_text(f"{SECRET}\n", encoding="utf-8")

    assert read_key(KeySource(file=path), "u", {}).headers() == {"authorization": f"Bearer {SECRET}"}


def test_key_shows_nothing() -> None:
    """Printing it, or what holds it, shows that there is one and no more."""
    assert SECRET not in f"{Key(SECRET)!r} {Key(SECRET)} {[Key(SECRET)]}"
    assert Key().headers() == {}


@pytest.mark.parametrize("text", ["", " \n", "a b", "열쇠", "a\nb", "x" * 20_000, "a\0b"])
def test_text_that_is_no_key(text: str, tmp_path: Path) -> None:
    """A header could not carry it; the message has nothing of it, as it may be most of a key."""
    (tmp_path / "key").write_text(text, encoding="utf-8")
    for source, environ in ((KeySource(env="K"), {"K": text}), (KeySource(file=tmp_path / "key"), {})):
        with pytest.raises(ConfigError, match=r"upstream u: the .* holds no key") as caught:
            read_key(source, "u", environ)
        assert not text.strip() or text not in str(caught.value)


def test_key_that_is_not_there(tmp_path: Path) -> None:
    """The message names the variable or the file."""
    with pytest.raises(ConfigError, match="environment variable NOPE is not set"):
        read_key(KeySource(env="NOPE"), "u", {})
    with pytest.raises(ConfigError, match="No such file"):
        read_key(KeySource(file=tmp_path / "nope"), "u", {})
    with pytest.raises(ConfigError, match="one of them"):
        read_key(KeySource(env="A", file=tmp_path), "u", {"A": "x"})
