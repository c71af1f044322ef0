"""Builds local backends: of packaged or trained weights, and of checkpoints."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch

from unmask.clock import Clock, SystemClock
from unmask.engine.families.folder import Say, unheard
from unmask.engine.weights import LoadedModel, load_weights, packaged_models, packaged_weights
from unmask.errors import ConfigError, WeightsError
from unmask.local.backend import LocalBackend
from unmask.local.checkpoint import exact_cache_error, serve_checkpoint
from unmask.local.checkpoint_files import Wanted
from unmask.local.hub import download
from unmask.local.memory import PoolNeed, check_pages, free_memory, measured_pages
from unmask.local.model import QUEUE_LIMIT, ServedModel, page_bytes, serve_model
from unmask.local.places import Repository, place_of, served_name
from unmask.sched.settings import SchedSettings
from unmask.text.tokenizer import packaged_tokenizer
from unmask.types import ApproximateKv, Device, Precision


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalPlan:
    """Which models run here, and how.

    Attributes:
        names: names in the package, files of weights or folders by their paths, or repositories of the Hub; empty: all
            of the package.
        sizes: of each model's scheduler.
        threads: processor threads of a forward; by default torch decides.
        queue_limit: requests that may wait, over all models, beside those that run.
        precision: what requests are run in that name none; by default single, and a checkpoint's own.
        precisions: others that they may name.
        measures_pages: whether each packaged model has as many pages as there is memory and use for, rather than as
            many as ``sizes`` says.
        device: where checkpoints run.
        approximate: which keys and values checkpoints keep approximately; none where a cache is exact.
        replicas: how often each is served, with an engine, a queue and pages of its own.
    """

    names: tuple[str, ...] = ()
    sizes: SchedSettings = field(default_factory=SchedSettings)
    threads: int | None = None
    queue_limit: int = QUEUE_LIMIT
    precision: Precision | None = None
    precisions: tuple[Precision, ...] = ()
    measures_pages: bool = False
    device: Device = Device.AUTO
    approximate: ApproximateKv = ApproximateKv()
    replicas: int = 1


def build_local_backend(names: tuple[str, ...] = (), sizes: SchedSettings | None = None) -> LocalBackend:
    """Serve models in one engine each, and as the defaults have it; see `build_local_backends`."""
    (backend,) = build_local_backends(LocalPlan(names=names, sizes=sizes or SchedSettings()))
    return backend


def build_local_backends(plan: LocalPlan, say: Say = unheard) -> tuple[LocalBackend, ...]:
    """Serve models as planned, one backend a replica; replicas of packaged models share the loaded weights.

    Args:
        plan: what to serve.
        say: told how far loading is.

    Raises:
        ConfigError: there is no memory for so many pages, for those of one request or for a checkpoint; a precision,
            device or approximate cache cannot be had; two models have one name, or a repository cannot be downloaded.
        UnknownModelError: a name is not in the package.
        WeightsError: a file is missing or damaged, or the package holds no model at all.
    """
    if plan.threads is not None:
        torch.set_num_threads(plan.threads)
    chosen = plan.names or packaged_models()
    if not chosen:
        raise WeightsError("the package holds no model; install it again, or train one with `unmask train`")
    _check_names(chosen)
    own = plan.precision or Precision.FLOAT32
    beside = tuple(each for each in plan.precisions if each is not own)
    for name in chosen:
        _check_beside(name, beside)
    _check_approximate(chosen, plan.approximate)
    files = {name: file for name in chosen if (file := _weights_file(name)) is not None}
    loaded = {name: load_weights(file) for name, file in files.items()}
    sizes = _sizes(loaded, plan, (own, *beside))
    # All that may run or wait can arrive for one model, and before a tick has made the first of them run.
    most = plan.replicas * plan.sizes.max_rows * len(chosen) + plan.queue_limit
    clock, tokenizer = SystemClock(), packaged_tokenizer()

    def serve(name: str) -> ServedModel:
        if name not in loaded:
            return _served_checkpoint(name, plan, clock, most, say)
        return serve_model(loaded[name], tokenizer, sizes[name], clock, queue_limit=most, precision=own, beside=beside)

    return tuple(LocalBackend(tuple(serve(name) for name in chosen)) for _ in range(plan.replicas))


def _served_checkpoint(name: str, plan: LocalPlan, clock: Clock, most: int, say: Say) -> ServedModel:
    place = place_of(name)
    wanted = Wanted(device=plan.device, precision=plan.precision, approximate=plan.approximate)
    assert place is not None, "what is no file of weights has a place"
    path = download(place, say) if isinstance(place, Repository) else place
    return serve_checkpoint(path, served_name(name), plan.sizes, clock, say=say, wanted=wanted, queue_limit=most)


def _weights_file(name: str) -> Path | None:
    """Return the file of our own weights that a name stands for; nothing where it is a checkpoint's."""
    place = place_of(name)
    if place is None:
        return packaged_weights(name)
    return place if isinstance(place, Path) and place.is_file() else None


def _sizes(
    loaded: Mapping[str, LoadedModel], plan: LocalPlan, precisions: tuple[Precision, ...]
) -> dict[str, SchedSettings]:
    """Return each model's sizes in each precision and replica. Its weights take their memory by now."""
    free, settings = free_memory(), plan.sizes
    needs = {
        name: PoolNeed(
            model=model.name,
            page_bytes=sum(page_bytes(model.network, settings.page_size, each) for each in precisions),
            page_size=settings.page_size,
            context_length=model.network.shape.context_length,
            max_rows=settings.max_rows,
        )
        for name, model in loaded.items()
    }
    if plan.measures_pages:
        models = plan.replicas * len(needs)
        return {name: replace(settings, pages=measured_pages(need, free, models)) for name, need in needs.items()}
    check_pages(settings.pages, tuple(needs.values()) * plan.replicas, free)
    return dict.fromkeys(needs, settings)


def _check_names(chosen: tuple[str, ...]) -> None:
    called = [served_name(name) for name in chosen]
    twice = sorted({name for name in called if called.count(name) > 1})
    if twice:
        raise ConfigError(
            f"models is {', '.join(chosen)}, of which several are called {twice[0]}, allowed: different names. "
            "Rename a folder, or serve one of them elsewhere.",
            param="models",
        )


def _check_approximate(chosen: tuple[str, ...], approximate: ApproximateKv) -> None:
    """Refuse an approximate cache for models of the package, and a refresh of none, before anything is loaded."""
    if not approximate.is_on:
        if approximate.refresh is not None:
            raise ConfigError(
                f"approximate_cache_refresh is {approximate.refresh} and approximate_cache {approximate.cache}, "
                "allowed: with prefix or dual. Choose one of them, or leave the refresh out.",
                param="approximate_cache_refresh",
            )
        return
    for name in chosen:
        place = place_of(name)
        if place is None or (isinstance(place, Path) and place.is_file()):
            raise exact_cache_error(served_name(name), approximate)


def _check_beside(name: str, beside: tuple[Precision, ...]) -> None:
    if beside and place_of(name) is not None:
        raise ConfigError(
            f"extra_precisions is {', '.join(beside)}, allowed with the checkpoint {name}: none, as it is loaded "
            "in one precision. Leave it out, or serve models of the package on their own.",
            param="extra_precisions",
        )
