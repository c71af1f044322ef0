"""What a command learns of a model by loading it."""

import asyncio

from unmask.backend import ModelInfo
from unmask.cli.tools import Tools
from unmask.config import Settings
from unmask.errors import UnknownModelError
from unmask.local.places import served_name


def named_settings(model: str, remote: str | None) -> tuple[Settings, str]:
    """Return what has to be loaded for a model, and the name that it is served by.

    Args:
        model: a name, a folder or a repository; of a model that another server runs, its name in the file.
        remote: the file of upstreams.
    """
    if remote is not None:
        return Settings(remote=remote), model
    return Settings(models=(model,)), served_name(model)


def model_named(name: str, tools: Tools, remote: str | None = None) -> ModelInfo:
    """Load a model, and let it go again.

    Raises:
        UnknownModelError: there is none of this name.
    """
    settings, served = named_settings(name, remote)
    return asyncio.run(_loaded(settings, served, tools))


async def _loaded(settings: Settings, name: str, tools: Tools) -> ModelInfo:
    backend = tools.make_backend(settings)
    try:
        models = {model.name: model for model in backend.models()}
        if name not in models:
            raise UnknownModelError(name, models)
        return models[name]
    finally:
        await backend.drain()
