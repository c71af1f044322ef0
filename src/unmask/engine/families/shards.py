"""Reads a checkpoint's tensors, each checked against what its family expects."""

from collections.abc import Mapping
from contextlib import ExitStack
from math import prod
from pathlib import Path
from typing import Any, Self

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from unmask.engine.families.folder import CheckpointFolder, Say
from unmask.errors import CheckpointFolderError

FLOATS = {"F32", "F16", "BF16", "F64"}
LISTED = 3
"""Names of tensors told where many are wrong alike."""


class Shards:
    """The files of weights, open; each tensor is read when it is asked for. Close them by leaving the context.

    Args:
        folder: the checkpoint.
        shapes: the size of each tensor that will be read.
        dtype: what they are read as.
        device: where to.
        say: told of each file that is begun with.
    """

    def __init__(
        self,
        folder: CheckpointFolder,
        shapes: Mapping[str, tuple[int, ...]],
        *,
        dtype: torch.dtype,
        device: torch.device,
        say: Say,
    ) -> None:
        self._folder, self._shapes = folder, shapes
        self._dtype, self._device, self._say = dtype, device, say
        self._stack = ExitStack()
        self._files: dict[Path, Any] = {}
        self._read: set[Path] = set()

    def __enter__(self) -> Self:
        """Open the files and compare names and sizes; nothing has been loaded yet.

        Raises:
            CheckpointFolderError: a file is damaged or cut short, or a tensor is missing or of another size.
        """
        try:
            for shard in self._folder.shards:
                self._files[shard] = self._stack.enter_context(_opened(shard))
            self._check()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Close the files."""
        self._stack.close()

    def read(self, name: str) -> Tensor:
        """Return a tensor.

        Raises:
            CheckpointFolderError: it cannot be read, or holds values that are not finite.
        """
        shard = self._place(name)
        if shard not in self._read:
            self._read.add(shard)
            self._say(f"loading {shard.name}, {len(self._read)} of {len(self._folder.shards)}")
        try:
            tensor: Tensor = self._files[shard].get_tensor(name).to(device=self._device, dtype=self._dtype)
        except (SafetensorError, RuntimeError) as error:
            raise CheckpointFolderError(
                f"cannot read {name} of {str(shard)!r}: {error}; fetch the file again"
            ) from error
        # A sum is not finite where a value is not, and costs no second tensor of the size.
        if not bool(tensor.sum(dtype=torch.float32).isfinite()):
            raise CheckpointFolderError(
                f"{name} of {str(shard)!r} holds values that are not finite; fetch the file again"
            )
        return tensor

    def _place(self, name: str) -> Path:
        return self._folder.placed.get(name, self._folder.shards[0])

    def _check(self) -> None:
        """Compare what the files say they hold with what is expected."""
        held = {shard: set(file.keys()) for shard, file in self._files.items()}
        missing = [name for name in self._shapes if name not in held[self._place(name)]]
        if missing:
            shard = self._place(missing[0])
            more = f" and {len(missing) - LISTED} more" if len(missing) > LISTED else ""
            raise CheckpointFolderError(
                f"{str(shard)!r} lacks {', '.join(missing[:LISTED])}{more}, which config.json asks for: "
                "configuration and weights do not belong together, or a file is not the published one"
            )
        for name, expected in self._shapes.items():
            shard = self._place(name)
            part = self._files[shard].get_slice(name)
            found, kind = tuple(part.get_shape()), part.get_dtype()
            if found != expected:
                raise CheckpointFolderError(
                    f"{name} of {str(shard)!r} is {found}, and config.json asks for {expected}: "
                    "they do not belong together"
                )
            if kind not in FLOATS:
                raise CheckpointFolderError(
                    f"{name} of {str(shard)!r} is of type {kind}, allowed: {', '.join(sorted(FLOATS))}. "
                    "Take the checkpoint without quantisation."
                )


def parameters_of(shapes: Mapping[str, tuple[int, ...]]) -> int:
    """Return how many numbers tensors of these sizes hold."""
    return sum(prod(shape) for shape in shapes.values())


def _opened(shard: Path) -> Any:  # noqa: ANN401 - the library's own type, which it does not export
    try:
        return safe_open(shard, framework="pt")
    except (OSError, SafetensorError) as error:
        raise CheckpointFolderError(
            f"cannot open {str(shard)!r}: {error}; it is damaged or cut short: fetch it again"
        ) from error
