"""The reward endpoint that a server is set up with."""

from pathlib import Path
from typing import Any

import pytest

from unmask.app.reward import opened_reward
from unmask.config import Settings
from unmask.errors import ConfigError
from unmask.testing.fake_upstream import Exchange, FakeUpstream
from unmask.testing.manual_clock import ManualClock
from unmask.types import Message, Role

CHAT = (Message(role=Role.USER, content="무엇입니까?"),)


async def test_without_an_address_there_is_none() -> None:
    """The default."""
    async with opened_reward(Settings(), {}, ManualClock()) as desk:
        assert desk is None


@pytest.mark.parametrize("place", ["env", "file"])
async def test_it_is_asked_with_its_key(place: str, tmp_path: Path) -> None:
    """From a variable or a file, at the very address that is configured."""
    (tmp_path / "key").write_text("s3cret\n", encoding="utf-8")
    given: dict[str, Any] = (
        {"reward_key_env": "REWARD"} if place == "env" else {"reward_key_file": str(tmp_path / "key")}
    )

    async def score(exchange: Exchange) -> None:
        await exchange.send(b'HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{"scores": [1, 2]}')

    async with FakeUpstream(score).listening() as there:
        settings = Settings(reward_url=f"{there.url}/score", **given)
        async with opened_reward(settings, {"REWARD": "s3cret"}, ManualClock()) as desk:
            assert desk is not None
            assert list(await desk.rewards(CHAT, ["하나", "둘"])) == [1.0, 2.0]
    (exchange,) = there.exchanges
    assert (exchange.target, exchange.headers["authorization"]) == ("/v1/score", "Bearer s3cret")


@pytest.mark.parametrize(
    ("settings", "param"),
    [
        (Settings(reward_key_env="REWARD"), "reward_key_env"),
        (Settings(reward_key_file="key"), "reward_key_file"),
        (Settings(reward_url="http://a/", reward_key_env="MISSING"), "reward_key_env"),
        (Settings(reward_url="http://a/", reward_key_file="/nowhere/key"), "reward_key_file"),
        (Settings(reward_url="http://a:0/"), "reward_url"),
    ],
)
async def test_what_cannot_be_used_is_said_at_the_start(settings: Settings, param: str) -> None:
    """By the name of the setting."""
    with pytest.raises(ConfigError) as caught:
        async with opened_reward(settings, {}, ManualClock()):
            pass
    assert caught.value.param == param
