"""Opens backends over remote models."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from random import Random
from types import MappingProxyType

from unmask.clock import Clock, SystemClock, SystemWallClock, WallClock
from unmask.errors import ConfigError
from unmask.remote.address import check_url
from unmask.remote.backend import RemoteBackend
from unmask.remote.describing import described
from unmask.remote.key import Key, read_key
from unmask.remote.meter import Meter
from unmask.remote.pool import Pool
from unmask.remote.served import ServedRemotely, with_tiers
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
        kind: what the server is; one of those that need nothing more to be said of them.
        environ: environment variables.

    Raises:
        ConfigError: the URL may not be asked, there is no such key, or the kind asks for a file of upstreams.
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
        ConfigError: a URL may not be asked, a key cannot be read, or it is not said how an engine was launched.
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
    if (model.kind is Kind.VLLM and model.vllm is None) or (model.kind is Kind.SGLANG and model.sglang is None):
        fix = "nothing says how it was launched. Say it in a file of upstreams."
        raise ConfigError(f"kind of {model.name} is {model.kind}, and {fix}", param="kind")
    upstreams = tuple(
        replace(entry, url=check_url(entry.url, param=f"url of upstream {entry.name}")) for entry in model.upstreams
    )
    keys: list[Key] = [read_key(entry.key, entry.name, environ) for entry in upstreams]
    pairs = list(zip(upstreams, keys, strict=True))
    info = described(model, pairs)
    upstreams_of = [Upstream(entry, model.breaking, key, clock, wall) for entry, key in pairs]
    path = None if model.vllm is None else model.vllm.metrics_path
    served = ServedRemotely(
        settings=model,
        info=info,
        pool=Pool(upstreams_of, info),
        meters=MappingProxyType({} if path is None else {one.name: Meter(one, path) for one in upstreams_of}),
    )
    return served if model.sglang is None else with_tiers(served, model.sglang)
