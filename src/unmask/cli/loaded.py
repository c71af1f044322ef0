"""What a command learns of a model by loading it."""

import asyncio

from unmask.backend import ModelInfo
from unmask.cli.tools import Tools
from unmask.config import Settings
from unmask.errors import UnknownModelError


def model_named(name: str, tools: Tools) -> ModelInfo:
    """Load a model, and let it go again.

    Raises:
        UnknownModelError: there is none of this name.
    """
    return asyncio.run(_loaded(name, tools))


async def _loaded(name: str, tools: Tools) -> ModelInfo:
    backend = tools.make_backend(Settings(models=(name,)))
    try:
        models = {model.name: model for model in backend.models()}
        if name not in models:
            raise UnknownModelError(name, models)
        return models[name]
    finally:
        await backend.drain()
