"""A folder with a published checkpoint: which files there are, and whether they are whole."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from unmask.errors import CheckpointFolderError

CONFIG = "config.json"
INDEX = "model.safetensors.index.json"
SINGLE = "model.safetensors"
LARGEST_JSON = 64 << 20
"""Bytes of a file of JSON; a tokenizer's is the largest, and has some ten millions."""
DIGEST_LENGTH = 16
_LFS = b"version https://git-lfs"
_PICKLES = ("*.bin", "*.pt", "*.pth")
_UNFINISHED = ("*.incomplete", "*.part", "*.partial", "*.crdownload", "*.aria2")

Say = Callable[[str], None]
"""Told how far loading is."""


def unheard(_: str) -> None:
    """Tell nobody how far loading is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointFolder:
    """A checkpoint's files.

    Attributes:
        config: what ``config.json`` holds.
        shards: files of weights, in the order of their names.
        placed: which shard holds a tensor, by the tensor's name; empty where there is one file alone.
    """

    path: Path
    config: Mapping[str, object]
    shards: tuple[Path, ...]
    placed: Mapping[str, Path]

    @property
    def name(self) -> str:
        """What the folder is called."""
        return self.path.resolve().name

    @property
    def weight_bytes(self) -> int:
        """Bytes of all shards."""
        return sum(shard.stat().st_size for shard in self.shards)


def open_folder(path: Path) -> CheckpointFolder:
    """Look through a folder without reading its weights.

    Raises:
        CheckpointFolderError: it is no folder, or a file is missing, cut short, or of a kind that is not read.
    """
    if not path.is_dir():
        raise CheckpointFolderError(f"there is no folder {str(path)!r}; name one that holds a {CONFIG}")
    config = read_object(path / CONFIG)
    placed = _placed(path)
    shards = tuple(sorted(set(placed.values()))) if placed else (path / SINGLE,)
    missing = [shard.name for shard in shards if not shard.is_file()]
    if missing:
        raise CheckpointFolderError(_missing(path, missing, has_index=bool(placed)))
    for shard in shards:
        _check_start(shard)
    return CheckpointFolder(path=path, config=config, shards=shards, placed=placed)


def read_object(path: Path) -> dict[str, object]:
    """Read a file that holds one JSON object.

    Raises:
        CheckpointFolderError: it is missing, too large, or no such file.
    """
    return parse_object(read_bytes(path), path)


def parse_object(content: bytes, path: Path) -> dict[str, object]:
    """Read the content of a file that holds one JSON object.

    Raises:
        CheckpointFolderError: it holds something else.
    """
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise CheckpointFolderError(f"{str(path)!r} is damaged: {error}; fetch it again") from error
    if not isinstance(value, dict):
        raise CheckpointFolderError(f"{str(path)!r} is damaged: it holds no object; fetch it again")
    return cast("dict[str, object]", value)


def read_bytes(path: Path) -> bytes:
    """Read a small file of a checkpoint.

    Raises:
        CheckpointFolderError: it is missing, cannot be read, or is larger than such a file can be.
    """
    try:
        size = path.stat().st_size
        if size > LARGEST_JSON:
            raise CheckpointFolderError(
                f"{str(path)!r} has {size} bytes, allowed: up to {LARGEST_JSON}; fetch it again"
            )
        content = path.read_bytes()
    except OSError as error:
        raise CheckpointFolderError(
            f"cannot read {str(path)!r}: {error.strerror or error}; a checkpoint has to hold it: fetch it whole"
        ) from error
    if content.startswith(_LFS):
        raise CheckpointFolderError(f"{str(path)!r} is a pointer of Git LFS, not the file itself: run `git lfs pull`")
    return content


def digest_of(folder: CheckpointFolder, say: Say) -> str:
    """Return a digest over configuration and weights: another one wherever they differ."""
    digest = hashlib.sha256(json.dumps(folder.config, sort_keys=True).encode())
    for number, shard in enumerate(folder.shards, 1):
        say(f"checking {shard.name}, {number} of {len(folder.shards)}")
        with shard.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:DIGEST_LENGTH]


def _placed(path: Path) -> dict[str, Path]:
    """Return which shard holds each tensor; nothing where there is no index."""
    if not (path / INDEX).exists():
        return {}
    mapped = read_object(path / INDEX).get("weight_map")
    if not isinstance(mapped, dict) or not mapped:
        raise CheckpointFolderError(f"{str(path / INDEX)!r} is damaged: it has no weight_map; fetch it again")
    placed: dict[str, Path] = {}
    for name, file in mapped.items():
        # A name with a folder in it would read what lies outside the checkpoint.
        if not isinstance(file, str) or Path(file).name != file or not file.endswith(".safetensors"):
            raise CheckpointFolderError(
                f"{str(path / INDEX)!r}: weight_map puts {name} into {file!r}, allowed: the name of a .safetensors "
                "file of the same folder; fetch the index again"
            )
        placed[name] = path / file
    return placed


def _missing(path: Path, names: list[str], *, has_index: bool) -> str:
    unfinished = sorted(found.name for pattern in _UNFINISHED for found in path.glob(pattern))
    if unfinished:
        return (
            f"{str(path)!r} is not downloaded to its end: {', '.join(names)} missing, {', '.join(unfinished)} there; "
            "finish the download"
        )
    pickles = sorted(found.name for pattern in _PICKLES for found in path.glob(pattern))
    if pickles and not has_index:
        return (
            f"{str(path)!r} holds its weights as {', '.join(pickles[:3])}, which may run code when read; "
            f"convert them to {SINGLE}"
        )
    why = f"{INDEX} names them" if has_index else f"and there is no {INDEX}"
    return f"{str(path)!r} lacks {', '.join(names)}: {why}; fetch the checkpoint whole"


def _check_start(shard: Path) -> None:
    with shard.open("rb") as file:
        start = file.read(len(_LFS))
    if start == _LFS:
        raise CheckpointFolderError(f"{str(shard)!r} is a pointer of Git LFS, not the weights: run `git lfs pull`")
