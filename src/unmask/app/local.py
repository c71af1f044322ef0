"""Builds the backend that runs in this process."""

from dataclasses import replace

from unmask.app.errors import EngineMissingError
from unmask.backend import Backend
from unmask.config import Settings
from unmask.sched.settings import SchedSettings

ENGINE_MODULES = frozenset({"safetensors", "torch"})


def local_backend(settings: Settings) -> Backend:
    """Load the models of ``settings`` into an engine of our own.

    Raises:
        ConfigError: there is no memory for so many pages.
        EngineMissingError: what the engine needs is not installed.
        UnknownModelError: no model has such a name.
        WeightsError: weights are missing or damaged.
    """
    try:
        # Imported here, so that a server without an engine of its own needs no torch.
        from unmask.local.build import build_local_backend
    except ModuleNotFoundError as error:
        if error.name in ENGINE_MODULES:
            raise EngineMissingError(error.name) from error
        raise
    sizes = SchedSettings()
    pages = settings.page_pool_tokens // sizes.page_size
    sizes = replace(sizes, pages=pages, max_rows=settings.max_rows)
    return build_local_backend(
        settings.models,
        sizes,
        threads=settings.threads,
        queue_limit=settings.queue_limit,
        precision=settings.precision,
    )
