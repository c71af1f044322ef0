"""Builds the backend of a server: one that runs in this process, or one that passes requests on."""

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from unmask.app.errors import EngineMissingError
from unmask.backend import Backend
from unmask.config import Settings
from unmask.errors import ConfigError
from unmask.remote.file import read_remote
from unmask.remote.opening import open_backend
from unmask.replicas.backend import ReplicaBackend
from unmask.replicas.prompt import token_reader
from unmask.sched.settings import PageReserve, SchedSettings
from unmask.text.tokenizer import packaged_tokenizer
from unmask.types import ApproximateKv, Precision

if TYPE_CHECKING:
    from unmask.local.backend import LocalBackend

ENGINE_MODULES = frozenset({"safetensors", "torch"})


def chosen_backend(settings: Settings) -> Backend:
    """Return the backend that the settings name: other servers, or an engine of our own.

    Raises:
        ConfigError: the file of upstreams cannot be read, or models are to run here as well.
        UnmaskError: what `local_backend` or `unmask.remote.opening.open_backend` raises.
    """
    if settings.remote is None:
        return local_backend(settings)
    if settings.replicas > 1:
        raise ConfigError(
            f"replicas is {settings.replicas}, allowed: 1 with remote. Name several upstreams in {settings.remote}.",
            param="replicas",
        )
    if settings.models:
        raise ConfigError(
            f"remote is {settings.remote} and models is {', '.join(settings.models)}, allowed: one of the two. "
            "Run a server of its own for models that run here, and name it in the file.",
            param="remote",
        )
    return open_backend(read_remote(Path(settings.remote).expanduser()), os.environ)


def local_backend(settings: Settings) -> Backend:
    """Load the models of ``settings`` into an engine of our own, or into as many as there are to be replicas.

    Raises:
        UnmaskError: what `local_engines` raises.
    """
    engines = local_engines(settings)
    if len(engines) == 1:
        return engines[0]
    read = token_reader(packaged_tokenizer().encode_chat, scheduling(settings).page_size)
    return ReplicaBackend({str(number): engine for number, engine in enumerate(engines, start=1)}, read)


def local_engines(settings: Settings) -> "tuple[LocalBackend, ...]":
    """Load the models of ``settings`` into as many engines of our own as there are to be replicas.

    Raises:
        ConfigError: there is no memory for so many pages, or for those of one request where they are measured; or all
            of them are kept for classes.
        EngineMissingError: what the engine needs is not installed.
        UnknownModelError: no model has such a name.
        WeightsError: weights are missing or damaged.
    """
    try:
        # Imported here, so that a server without an engine of its own needs no torch.
        from unmask.local.build import LocalPlan, build_local_backends
    except ModuleNotFoundError as error:
        if error.name in ENGINE_MODULES:
            raise EngineMissingError(error.name) from error
        raise
    sizes = scheduling(settings)
    said = Console(stderr=True)
    plan = LocalPlan(
        names=settings.models,
        sizes=sizes,
        threads=settings.threads,
        queue_limit=settings.queue_limit,
        precision=settings.precision,
        precisions=tuple(Precision(name) for name in settings.extra_precisions),
        measures_pages=settings.page_pool_tokens is None,
        device=settings.device,
        approximate=ApproximateKv(cache=settings.approximate_cache, refresh=settings.approximate_cache_refresh),
        replicas=settings.replicas,
    )
    return build_local_backends(plan, lambda text: said.print(text, highlight=False, markup=False, soft_wrap=True))


def scheduling(settings: Settings) -> SchedSettings:
    """Return what of the settings is the scheduler's.

    Raises:
        ConfigError: all pages are kept for classes.
    """
    sizes = SchedSettings()
    return replace(
        sizes,
        pages=sizes.pages if settings.page_pool_tokens is None else settings.page_pool_tokens // sizes.page_size,
        max_rows=settings.max_rows,
        batching=settings.batching,
        tick_tokens=settings.tick_tokens,
        fast_tick_tokens=settings.fast_tick_tokens,
        page_reserves=page_reserves(settings.page_reserves),
        patience_s=settings.queue_patience_s,
        fill_wait_s=settings.fill_wait_s,
    )


def page_reserves(given: tuple[str, ...]) -> tuple[PageReserve, ...]:
    """Return what pages are kept for, from texts such as ``interactive=0.25``.

    Raises:
        ConfigError: nothing would be left to whoever nothing is kept for.
    """
    pairs = (text.rpartition("=") for text in given)
    reserves = tuple(PageReserve(service_class=name, share=float(share)) for name, _, share in pairs)
    kept = sum(entry.share for entry in reserves)
    if kept >= 1:
        raise ConfigError(
            f"page_reserves is {', '.join(given)}, {kept:g} together, allowed: below 1 together. "
            "Lower them: classes without a reserve need pages too.",
            param="page_reserves",
        )
    return reserves
