"""Transformers, which DiffusionGemma runs through: an extra, so it is looked for where such a checkpoint is served."""

from importlib import import_module
from typing import Any

from unmask.errors import ConfigError

EXTRA = "gemma"
LEAST = "5.11"
"""The first version with DiffusionGemma."""


def transformers_library(model: str) -> Any:  # noqa: ANN401 - a package that need not be there, and has no stubs
    """Return the package.

    Raises:
        ConfigError: it is not installed, or too old.
    """
    try:
        library = import_module("transformers")
        # The package looks these up when they are asked for.
        _ = library.DiffusionGemmaForBlockDiffusion, library.DiffusionGemmaConfig
    except (ImportError, AttributeError) as error:
        raise ConfigError(
            f"models names {model}, a DiffusionGemma, which runs through transformers {LEAST} or newer, allowed "
            f"without the extra {EXTRA}: other families. Install it with `pip install 'unmask[{EXTRA}]'`.",
            param="models",
        ) from error
    return library
