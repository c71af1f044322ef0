"""Builds a local backend from packaged or trained weights."""

from pathlib import Path

import torch

from unmask.clock import SystemClock
from unmask.engine.weights import load_weights, packaged_models, packaged_weights
from unmask.errors import WeightsError
from unmask.local.backend import LocalBackend
from unmask.local.model import QUEUE_LIMIT, ServedModel, serve_model
from unmask.sched.settings import SchedSettings
from unmask.text.tokenizer import packaged_tokenizer
from unmask.types import Precision


def build_model(
    name: str,
    settings: SchedSettings,
    *,
    weights: Path | None = None,
    queue_limit: int = QUEUE_LIMIT,
    precision: Precision = Precision.FLOAT32,
) -> ServedModel:
    """Load a packaged model, or a file of weights, and put it behind a core."""
    loaded = load_weights(weights or packaged_weights(name))
    return serve_model(
        loaded, packaged_tokenizer(), settings, SystemClock(), queue_limit=queue_limit, precision=precision
    )


def build_local_backend(
    names: tuple[str, ...] = (),
    settings: SchedSettings | None = None,
    *,
    threads: int | None = None,
    queue_limit: int = QUEUE_LIMIT,
    precision: Precision = Precision.FLOAT32,
) -> LocalBackend:
    """Serve packaged models, all of them if none is named.

    Args:
        names: which models.
        settings: sizes of each model's scheduler.
        threads: processor threads of a forward; by default torch decides.
        queue_limit: requests that may wait, over all models, beside those that run.
        precision: of products, attention and pages.

    Raises:
        ConfigError: there is no memory for so many pages.
        UnknownModelError: a name is not in the package.
        WeightsError: a file is missing or damaged, or the package holds no model at all.
    """
    (backend,) = build_local_backends(
        1, names, settings or SchedSettings(), threads=threads, queue_limit=queue_limit, precision=precision
    )
    return backend


def build_local_backends(
    count: int,
    names: tuple[str, ...],
    settings: SchedSettings,
    *,
    threads: int | None,
    queue_limit: int,
    precision: Precision,
) -> tuple[LocalBackend, ...]:
    """Serve packaged models ``count`` times: engines, queues and pages of their own, over the same loaded weights.

    Raises:
        ConfigError: there is no memory for so many pages.
        UnknownModelError: a name is not in the package.
        WeightsError: a file is missing or damaged, or the package holds no model at all.
    """
    if threads is not None:
        torch.set_num_threads(threads)
    chosen = names or packaged_models()
    if not chosen:
        raise WeightsError("the package holds no model; install it again, or train one with `unmask train`")
    loaded = [load_weights(packaged_weights(name)) for name in chosen]
    # All that may run or wait can arrive for one model, and before a tick has made the first of them run.
    most = count * settings.max_rows * len(chosen) + queue_limit
    clock, tokenizer = SystemClock(), packaged_tokenizer()
    return tuple(
        LocalBackend(
            tuple(serve_model(one, tokenizer, settings, clock, queue_limit=most, precision=precision) for one in loaded)
        )
        for _ in range(count)
    )
