"""Opens the reward endpoint of a server."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from unmask.clock import Clock
from unmask.config import Settings
from unmask.errors import ConfigError
from unmask.remote.address import check_url
from unmask.remote.breaker import Breaker
from unmask.remote.key import Key, read_key
from unmask.remote.settings import Breaking, KeySource
from unmask.search.reward import RewardDesk
from unmask.search.reward_endpoint import NAME, RewardEndpoint


@asynccontextmanager
async def opened_reward(
    settings: Settings, environ: Mapping[str, str], clock: Clock
) -> AsyncIterator[RewardDesk | None]:
    """Yield what asks the configured reward endpoint; nothing where none is.

    Args:
        settings: where it is.
        environ: may hold its key.
        clock: by which it is left alone once it has failed often.

    Raises:
        ConfigError: its address or key cannot be used.
    """
    key = _key(settings, environ)
    if settings.reward_url is None:
        yield None
        return
    endpoint = RewardEndpoint(check_url(settings.reward_url, param="reward_url"), key)
    try:
        yield RewardDesk(reward=endpoint, timeout_s=settings.reward_timeout_s, breaker=Breaker(NAME, Breaking(), clock))
    finally:
        await endpoint.aclose()


def _key(settings: Settings, environ: Mapping[str, str]) -> Key:
    env, file = settings.reward_key_env, settings.reward_key_file
    if settings.reward_url is None and (env or file):
        name = "reward_key_env" if env else "reward_key_file"
        raise ConfigError(f"{name} is set without reward_url. Name the endpoint, or leave the key out.", param=name)
    try:
        return read_key(KeySource(env=env, file=None if file is None else Path(file).expanduser()), NAME, environ)
    except ConfigError as error:
        raise ConfigError(error.message, param=f"reward_{error.param or 'key_env'}") from error
