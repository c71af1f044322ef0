"""Builds a local backend from packaged or trained weights."""

from pathlib import Path

import torch

from unmask.clock import SystemClock
from unmask.engine.families.folder import Say, unheard
from unmask.engine.weights import load_weights, packaged_models, packaged_weights
from unmask.errors import ConfigError, WeightsError
from unmask.local.backend import LocalBackend
from unmask.local.checkpoint import Wanted, serve_checkpoint
from unmask.local.hub import download
from unmask.local.model import QUEUE_LIMIT, ServedModel, serve_model
from unmask.local.places import Repository, place_of, served_name
from unmask.sched.settings import SchedSettings
from unmask.text.tokenizer import packaged_tokenizer
from unmask.types import Device, Precision


def build_model(
    name: str,
    settings: SchedSettings,
    *,
    weights: Path | None = None,
    queue_limit: int = QUEUE_LIMIT,
    precision: Precision = Precision.FLOAT32,
    beside: tuple[Precision, ...] = (),
) -> ServedModel:
    """Load a packaged model, or a file of weights, and put it behind a core."""
    loaded = load_weights(weights or packaged_weights(name))
    return serve_model(
        loaded,
        packaged_tokenizer(),
        settings,
        SystemClock(),
        queue_limit=queue_limit,
        precision=precision,
        beside=beside,
    )


def build_local_backend(
    names: tuple[str, ...] = (),
    settings: SchedSettings | None = None,
    *,
    threads: int | None = None,
    queue_limit: int = QUEUE_LIMIT,
    precision: Precision | None = None,
    precisions: tuple[Precision, ...] = (),
    device: Device = Device.AUTO,
    say: Say = unheard,
) -> LocalBackend:
    """Serve packaged models, all of them if none is named, and checkpoints.

    Args:
        names: which models: names in the package, folders, or repositories of the Hub.
        settings: sizes of each model's scheduler.
        threads: processor threads of a forward; by default torch decides.
        queue_limit: requests that may wait, over all models, beside those that run.
        precision: what requests are run in that name none; by default single, and a checkpoint's own.
        precisions: others that they may name.
        device: where checkpoints run.
        say: told how far loading is.

    Raises:
        ConfigError: there is no memory for so many pages or a checkpoint, a precision or device cannot be had here, two
            models have one name, or a repository cannot be downloaded.
        UnknownModelError: a name is not in the package.
        WeightsError: a file is missing or damaged, or the package holds no model at all.
    """
    if threads is not None:
        torch.set_num_threads(threads)
    chosen = names or packaged_models()
    if not chosen:
        raise WeightsError("the package holds no model; install it again, or train one with `unmask train`")
    sizes = settings or SchedSettings()
    # All that may run or wait can arrive for one model, and before a tick has made the first of them run.
    most = sizes.max_rows * len(chosen) + queue_limit
    _check_names(chosen)
    own = precision or Precision.FLOAT32
    beside = tuple(each for each in precisions if each is not own)
    wanted = Wanted(device=device, precision=precision)
    models: list[ServedModel] = []
    for name in chosen:
        place = place_of(name)
        if place is None:
            models.append(build_model(name, sizes, queue_limit=most, precision=own, beside=beside))
            continue
        _check_beside(name, beside)
        path = download(place, say) if isinstance(place, Repository) else place
        model = serve_checkpoint(
            path, served_name(name), sizes, SystemClock(), say=say, wanted=wanted, queue_limit=most
        )
        models.append(model)
    return LocalBackend(tuple(models))


def _check_names(chosen: tuple[str, ...]) -> None:
    called = [served_name(name) for name in chosen]
    twice = sorted({name for name in called if called.count(name) > 1})
    if twice:
        raise ConfigError(
            f"models is {', '.join(chosen)}, of which several are called {twice[0]}, allowed: different names. "
            "Rename a folder, or serve one of them elsewhere.",
            param="models",
        )


def _check_beside(name: str, beside: tuple[Precision, ...]) -> None:
    if beside:
        raise ConfigError(
            f"extra_precisions is {', '.join(beside)}, allowed with the checkpoint {name}: none, as it is loaded "
            "in one precision. Leave it out, or serve models of the package on their own.",
            param="extra_precisions",
        )
