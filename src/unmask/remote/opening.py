"""Opens backends over remote models."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from random import Random

from unmask.clock import Clock, SystemClock, SystemWallClock, WallClock
from unmask.remote.address import check_url
from unmask.remote.backend import RemoteBackend, ServedRemotely
from unmask.remote.describing import described
from unmask.remote.key import Key, read_key
from unmask.remote.pool import Pool
from unmask.remote.settings import KeySource, Kind, RemoteModel, RemoteSettings, UpstreamSettings
from unmask.remote.upstream import Upstream


def open_remote(
    url: str,
    model: str,
    key_env: str | None = None,
    *,
    kind: Kind = Kind.OPENAI,
    environ: Mapping[str, str] = os.environ,
) -> RemoteBackend:
    """Return a backend over one server, for a command that is given its address.

    Args:
        url: its base, such as ``http://host:8000/v1``.
        model: what the server calls the model, and what requests call it.
        key_env: environment variable that holds the key.
        kind: what the server is.
        environ: environment variables.

    Raises:
        ConfigError: the URL may not be asked, or there is no such key.
    """
    upstream = UpstreamSettings(name=model, url=url, key=KeySource(env=key_env))
    settings = RemoteModel(name=model, upstream_model=model, upstreams=(upstream,), kind=kind)
    return open_backend(RemoteSettings(models=(settings,)), environ)


def open_backend(
    settings: RemoteSettings,
    environ: Mapping[str, str] = os.environ,
    *,
    clock: Clock | None = None,
    wall: WallClock | None = None,
    draw: Callable[[], float] | None = None,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> RemoteBackend:
    """Return a backend over all models of the settings; what servers say of their models is asked for once, here.

    Raises:
        ConfigError: a URL may not be asked, or a key cannot be read.
        UpstreamError: none of the servers of one of our own kind says what it serves.
    """
    clock, wall = clock or SystemClock(), wall or SystemWallClock()
    return RemoteBackend(
        tuple(_served(model, environ, clock, wall) for model in settings.models),
        clock=clock,
        draw=draw or Random().random,
        sleep=sleep,
    )


def _served(model: RemoteModel, environ: Mapping[str, str], clock: Clock, wall: WallClock) -> ServedRemotely:
    upstreams = tuple(
        replace(entry, url=check_url(entry.url, param=f"url of upstream {entry.name}")) for entry in model.upstreams
    )
    keys: list[Key] = [read_key(entry.key, entry.name, environ) for entry in upstreams]
    pairs = list(zip(upstreams, keys, strict=True))
    info = described(model, pairs)
    pool = Pool([Upstream(entry, model.breaking, key, clock, wall) for entry, key in pairs], info)
    return ServedRemotely(settings=model, info=info, pool=pool)
