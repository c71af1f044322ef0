"""Bytes to disk, so that a full disk or a sudden end leaves what was there before."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from unmask.policy.errors import PolicyStoreError


class Disk(Protocol):
    """What a store does to files; a test puts one in between that fails at a chosen place."""

    def write(self, handle: int, content: bytes) -> int:
        """Write some of the bytes, and tell how many."""
        ...

    def sync(self, handle: int) -> None:
        """Wait until what was written is on the disk."""
        ...

    def rename(self, old: Path, new: Path) -> None:
        """Put a file into the place of another, at once."""
        ...


class SystemDisk:
    """The machine's own."""

    def write(self, handle: int, content: bytes) -> int:
        """Write some of the bytes, and tell how many."""
        return os.write(handle, content)

    def sync(self, handle: int) -> None:
        """Wait until what was written is on the disk."""
        os.fsync(handle)

    def rename(self, old: Path, new: Path) -> None:
        """Put a file into the place of another, at once."""
        old.replace(new)


def append(disk: Disk, path: Path, content: bytes) -> None:
    """Add bytes to the end of a file; when not all of them can be written, none of them stay.

    Raises:
        PolicyStoreError: the disk is full, or the file may not be written.
    """
    with _explained(path), _opened(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND) as handle:
        size = os.fstat(handle).st_size
        try:
            _write_all(disk, handle, content)
            disk.sync(handle)
        except OSError:
            os.ftruncate(handle, size)
            raise
    _sync_folder(disk, path.parent)


def put(disk: Disk, path: Path, content: bytes) -> None:
    """Write a file whole or not at all.

    Raises:
        PolicyStoreError: the disk is full, or the folder may not be written.
    """
    partial = path.with_name(f"{path.name}.partial")
    with _explained(path):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with _opened(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC) as handle:
                _write_all(disk, handle, content)
                disk.sync(handle)
            disk.rename(partial, path)
        except OSError:
            with suppress(OSError):
                partial.unlink(missing_ok=True)
            raise
    _sync_folder(disk, path.parent)


def cut(disk: Disk, path: Path, size: int) -> None:
    """Shorten a file to its first bytes.

    Raises:
        PolicyStoreError: the file may not be written.
    """
    with _explained(path), _opened(path, os.O_WRONLY) as handle:
        os.ftruncate(handle, size)
        disk.sync(handle)


def read_bytes(path: Path) -> bytes | None:
    """Return what a file holds, or nothing where there is none.

    Raises:
        PolicyStoreError: it may not be read.
    """
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise PolicyStoreError(f"{path} cannot be read: {error.strerror}; see who may read the folder") from error


def _write_all(disk: Disk, handle: int, content: bytes) -> None:
    left = memoryview(content)
    while left:
        left = left[disk.write(handle, bytes(left)) :]


@contextmanager
def _opened(path: Path, flags: int) -> Iterator[int]:
    handle = os.open(path, flags | getattr(os, "O_BINARY", 0), 0o644)
    try:
        yield handle
    finally:
        os.close(handle)


def _sync_folder(disk: Disk, folder: Path) -> None:
    """Make new names in a folder last; not every system lets a folder be opened, and those that do not need no help."""
    with suppress(OSError), _opened(folder, os.O_RDONLY) as handle:
        disk.sync(handle)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise PolicyStoreError(
            f"{path} cannot be written: {error.strerror or error}; what was there before is untouched. Free some space "
            "or see who may write to the folder, and try again"
        ) from error
