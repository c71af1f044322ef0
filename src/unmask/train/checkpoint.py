"""Resumable training state, written whole or not at all."""

import os
import struct
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from pickle import UnpicklingError
from zipfile import BadZipFile, ZipFile

import torch

from unmask.engine.network import Network
from unmask.errors import CheckpointError
from unmask.train.recipe import Recipe

# What unpickling and restoring raise on a file that is cut short, damaged, or something else altogether.
_DAMAGE = (
    OSError,
    RuntimeError,
    UnpicklingError,
    BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    LookupError,
    ValueError,
    TypeError,
    AttributeError,
    MemoryError,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a run is: optimiser steps taken and seconds trained."""

    step: int = 0
    seconds: float = 0.0


def save_checkpoint(
    path: Path, recipe: Recipe, network: Network, optimisers: Sequence[torch.optim.Optimizer], progress: Progress
) -> None:
    """Write state beside ``path`` and move it into place; a full disk leaves the previous checkpoint whole.

    Raises:
        CheckpointError: the state could not be written.
    """
    partial = path.with_suffix(".partial")
    state = {
        "recipe": recipe.label,
        "network": network.state_dict(),
        "optimisers": [optimiser.state_dict() for optimiser in optimisers],
        "step": progress.step,
        "seconds": progress.seconds,
    }
    try:
        with partial.open("wb") as file:
            torch.save(state, file)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except (OSError, RuntimeError) as error:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        raise CheckpointError(
            f"cannot write the checkpoint {str(path)!r}: {error}; "
            "the one before it is untouched: free some space and go on with --resume"
        ) from error


def load_checkpoint(
    path: Path, recipe: Recipe, network: Network, optimisers: Sequence[torch.optim.Optimizer]
) -> Progress:
    """Restore state written by `save_checkpoint`.

    Raises:
        CheckpointError: there is no checkpoint, or it is damaged or of another recipe.
    """
    try:
        with ZipFile(path) as archive:
            # Torch reads past a wrong checksum: a flipped bit would train on as a wrong weight.
            if damaged := archive.testzip():
                raise BadZipFile(f"bad checksum of {damaged}")
        state = torch.load(path, map_location="cpu", weights_only=True)
        label = state.get("recipe", recipe.label)
        if label == recipe.label:
            network.load_state_dict(state["network"])
            for optimiser, saved in zip(optimisers, state["optimisers"], strict=True):
                optimiser.load_state_dict(saved)
        progress = Progress(step=int(state["step"]), seconds=float(state["seconds"]))
    except _DAMAGE as error:
        raise CheckpointError(
            f"cannot resume from {str(path)!r}: {_first_line(error)}; start again without --resume, in another folder"
        ) from error
    if label != recipe.label:
        raise CheckpointError(
            f"cannot resume from {str(path)!r}: it is of {label}, not {recipe.label}; name that one or another folder"
        )
    return progress


def _first_line(error: BaseException) -> str:
    """Shorten torch's messages, some of which are pages long."""
    return (str(error).splitlines() or [type(error).__name__])[0]
