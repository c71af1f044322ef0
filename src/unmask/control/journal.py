"""Files of lines that are only ever added to."""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

LARGEST_FILE = 8 << 20
"""Bytes after which a file is put aside and a new one begun."""
KEPT_FILES = 4
"""Files kept, the one that is written to among them; the oldest is deleted."""
_LOCK = "lock"
_OWNER_ONLY = 0o600
_FOLDER_OWNER_ONLY = 0o700


_Kept = TypeVar("_Kept")


@dataclass(frozen=True, slots=True, kw_only=True)
class Read(Generic[_Kept]):
    """Records as they were found, oldest first, and how many lines were none."""

    records: tuple[_Kept, ...]
    unreadable: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Journal:
    """Lines in ``NAME.jsonl`` and, once that is full, ``NAME.1.jsonl`` and so on, of which the highest is the oldest.

    A line is added in one write. A process that is killed in the middle of it leaves a torn line, which the next one
    to write ends, so that it spoils no other; readers meet a line that means nothing. What is written survives the
    end of the process at once, that of the machine after some seconds. Several processes may write to one folder.
    """

    folder: Path
    name: str
    largest: int = LARGEST_FILE
    kept: int = KEPT_FILES

    def append(self, line: bytes) -> None:
        """Add a line.

        Raises:
            OSError: the folder cannot be written to, or the disk is full.
        """
        self.folder.mkdir(mode=_FOLDER_OWNER_ONLY, parents=True, exist_ok=True)
        with _locked(self.folder / _LOCK):
            self._make_room(len(line) + 1)
            path = self._path(0)
            opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, _OWNER_ONLY)
            with os.fdopen(opened, "r+b", buffering=0) as file:
                end = file.seek(0, os.SEEK_END)
                data = line + b"\n"
                if end and _last_byte(path) != b"\n":
                    data = b"\n" + data
                written = file.write(data)
            if written != len(data):
                raise OSError(f"only {written} of {len(data)} bytes fit into {path}")

    def lines(self) -> Iterator[bytes]:
        """Yield every whole line there is, oldest first; one that is torn ends as it does.

        Raises:
            OSError: a file is there and cannot be read.
        """
        for number in reversed(range(self.kept)):
            with contextlib.suppress(FileNotFoundError), self._path(number).open("rb") as file:
                yield from (line.rstrip(b"\n") for line in file if line.strip())

    def read(self, adapter: TypeAdapter[_Kept]) -> Read[_Kept]:
        """Read every line.

        Raises:
            OSError: a file is there and cannot be read.
        """
        found: list[_Kept] = []
        unreadable = 0
        for line in self.lines():
            try:
                found.append(adapter.validate_json(line))
            except ValidationError:
                unreadable += 1
        return Read(records=tuple(found), unreadable=unreadable)

    def is_full(self) -> bool:
        """Whether there are as many files as are kept: older ones may have been deleted."""
        return self._path(self.kept - 1).exists()

    def _path(self, number: int) -> Path:
        return self.folder / (f"{self.name}.{number}.jsonl" if number else f"{self.name}.jsonl")

    def _make_room(self, more: int) -> None:
        current = self._path(0)
        if not current.exists() or current.stat().st_size + more <= self.largest:
            return
        for number in reversed(range(self.kept - 1)):
            with contextlib.suppress(FileNotFoundError):
                self._path(number).replace(self._path(number + 1))


def _last_byte(path: Path) -> bytes:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Keep other processes out for as long as the block runs."""
    try:
        import fcntl  # noqa: PLC0415 - not made for every platform
    except ModuleNotFoundError:
        # There a folder is for one server.
        yield
        return
    with path.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
