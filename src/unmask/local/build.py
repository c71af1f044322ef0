"""Builds a local backend from packaged or trained weights."""

from dataclasses import replace
from pathlib import Path

import torch

from unmask.clock import SystemClock
from unmask.engine.weights import LoadedModel, load_weights, packaged_models, packaged_weights
from unmask.errors import WeightsError
from unmask.local.backend import LocalBackend
from unmask.local.memory import PoolNeed, check_pages, free_memory, measured_pages
from unmask.local.model import QUEUE_LIMIT, ServedModel, page_bytes, serve_model
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
    precision: Precision = Precision.FLOAT32,
    precisions: tuple[Precision, ...] = (),
    measures_pages: bool = False,
) -> LocalBackend:
    """Serve packaged models, all of them if none is named.

    Args:
        names: which models.
        settings: sizes of each model's scheduler.
        threads: processor threads of a forward; by default torch decides.
        queue_limit: requests that may wait, over all models, beside those that run.
        precision: what requests are run in that name none.
        precisions: others that they may name.
        measures_pages: whether each model has as many pages as there is memory and use for, rather than as many as
            ``settings`` says.

    Raises:
        ConfigError: there is no memory for so many pages, or for those of one request, or a precision cannot be had
            here.
        UnknownModelError: a name is not in the package.
        WeightsError: a file is missing or damaged, or the package holds no model at all.
    """
    (backend,) = build_local_backends(
        1,
        names,
        settings or SchedSettings(),
        threads=threads,
        queue_limit=queue_limit,
        precision=precision,
        precisions=precisions,
        measures_pages=measures_pages,
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
    precisions: tuple[Precision, ...] = (),
    measures_pages: bool = False,
) -> tuple[LocalBackend, ...]:
    """Serve packaged models, or files by their absolute paths, ``count`` times over the same loaded weights.

    Each time they have engines, queues and pages of their own.

    Raises:
        ConfigError: there is no memory for so many pages, or for those of one request, or a precision cannot be had
            here.
        UnknownModelError: a name is not in the package.
        WeightsError: a file is missing or damaged, or the package holds no model at all.
    """
    if threads is not None:
        torch.set_num_threads(threads)
    chosen = names or packaged_models()
    if not chosen:
        raise WeightsError("the package holds no model; install it again, or train one with `unmask train`")
    loaded = tuple(load_weights(_weights_file(name)) for name in chosen)
    # All that may run or wait can arrive for one model, and before a tick has made the first of them run.
    most = count * settings.max_rows * len(chosen) + queue_limit
    beside = tuple(each for each in precisions if each is not precision)
    tokenizer, clock = packaged_tokenizer(), SystemClock()
    sizes = [
        replace(settings, pages=pages)
        for pages in _pages(loaded, settings, (precision, *beside), count, measured=measures_pages)
    ]
    return tuple(
        LocalBackend(
            tuple(
                serve_model(one, tokenizer, size, clock, queue_limit=most, precision=precision, beside=beside)
                for one, size in zip(loaded, sizes, strict=True)
            )
        )
        for _ in range(count)
    )


def _weights_file(name: str) -> Path:
    """Return the file that a model is loaded from; names of packaged ones have no slash."""
    path = Path(name)
    return path if path.is_absolute() else packaged_weights(name)


def _pages(
    loaded: tuple[LoadedModel, ...],
    sizes: SchedSettings,
    precisions: tuple[Precision, ...],
    count: int,
    *,
    measured: bool,
) -> tuple[int, ...]:
    """Return how many pages each model has in each precision and replica. Its weights take their memory by now."""
    free = free_memory()
    needs = tuple(
        PoolNeed(
            model=model.name,
            page_bytes=sum(page_bytes(model.network, sizes.page_size, each) for each in precisions),
            page_size=sizes.page_size,
            context_length=model.network.shape.context_length,
            max_rows=sizes.max_rows,
        )
        for model in loaded
    )
    if measured:
        return tuple(measured_pages(need, free, count * len(needs)) for need in needs)
    check_pages(sizes.pages, needs * count, free)
    return (sizes.pages,) * len(needs)
