"""Builds a local backend from packaged or trained weights."""

from pathlib import Path

import torch

from unmask.clock import SystemClock
from unmask.engine.weights import load_weights, packaged_models, packaged_weights
from unmask.errors import WeightsError
from unmask.local.backend import LocalBackend
from unmask.local.model import ServedModel, serve_model
from unmask.sched.settings import SchedSettings
from unmask.text.tokenizer import packaged_tokenizer


def build_model(name: str, settings: SchedSettings, *, weights: Path | None = None) -> ServedModel:
    """Load a packaged model, or a file of weights, and put it behind a core."""
    loaded = load_weights(weights or packaged_weights(name))
    return serve_model(loaded, packaged_tokenizer(), settings, SystemClock())


def build_local_backend(
    names: tuple[str, ...] = (), settings: SchedSettings | None = None, *, threads: int | None = None
) -> LocalBackend:
    """Serve packaged models, all of them if none is named.

    Raises:
        UnknownModelError: a name is not in the package.
        WeightsError: a file is missing or damaged, or the package holds no model at all.
    """
    if threads is not None:
        torch.set_num_threads(threads)
    chosen = names or packaged_models()
    if not chosen:
        raise WeightsError("the package holds no model; install it again, or train one with `unmask train`")
    return LocalBackend(tuple(build_model(name, settings or SchedSettings()) for name in chosen))
