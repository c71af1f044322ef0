"""Where reviewers' decisions, draws and findings are kept: lines that are only ever added, beside a run's answers."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, TypeVar

import orjson
from fsspec.core import url_to_fs
from fsspec.implementations.local import LocalFileSystem
from pydantic import TypeAdapter

from unmask.gate.audit import AuditDraw
from unmask.gate.codec import Strict, read_strict
from unmask.gate.correction import Correction
from unmask.gate.errors import RunFolderError
from unmask.gate.lock import locked
from unmask.gate.review_errors import ReviewStoreError
from unmask.gate.review_finding import Finding

CORRECTIONS = "review/corrections.jsonl"
DRAWS = "review/audit.jsonl"
FINDINGS = "review/findings.jsonl"
LOCK = "review/lock"

_Kept = TypeVar("_Kept")


class LineFolder(Protocol):
    """What holds line files: `unmask.gate.artefacts.RunFolder`."""

    @property
    def url(self) -> str:
        """Where it is."""
        ...

    def lines(self, name: str) -> tuple[bytes, ...]:
        """Return the whole lines of a file, oldest first."""
        ...

    def append_lines(self, name: str, lines: Iterable[bytes]) -> None:
        """Add lines, each with its end."""
        ...


_CORRECTION = TypeAdapter(Strict[Correction])
_DRAW = TypeAdapter(Strict[AuditDraw])
_FINDING = TypeAdapter(Strict[Finding])


class ReviewStore:
    """``corrections.jsonl``, ``audit.jsonl`` and ``findings.jsonl`` of a run, a line a record.

    Nothing is ever changed or deleted, so the files are the history. Several processes may add at the same time: on a
    disk each waits for the folder's lock; in an object store each line is an object of its own.
    """

    def __init__(self, folder: LineFolder) -> None:
        self._folder = folder

    def add(self, record: Correction | AuditDraw | Finding) -> None:
        """Add a record; once this returns, it outlives the process.

        Raises:
            ReviewStoreError: another process holds the lock for too long, or a text cannot be written.
            RunFolderError: the folder cannot be written.
        """
        match record:
            case Correction():
                name = CORRECTIONS
            case AuditDraw():
                name = DRAWS
            case Finding():
                name = FINDINGS
        with self.locked():
            self._append(name, record)

    def corrections(self) -> tuple[Correction, ...]:
        """Return every correction, oldest first."""
        return tuple(sorted(self._read(CORRECTIONS, _CORRECTION), key=lambda found: found.when))

    def findings(self) -> tuple[Finding, ...]:
        """Return every finding, oldest first."""
        return tuple(sorted(self._read(FINDINGS, _FINDING), key=lambda found: found.when))

    def draw(self) -> AuditDraw | None:
        """Return the draw of the random stratum that holds now: the largest of those with the first one's seed."""
        draws = sorted(self._read(DRAWS, _DRAW), key=lambda found: found.when)
        valid = [found for found in draws if found.seed == draws[0].seed]
        return max(valid, key=lambda found: (found.of, found.n), default=None)

    def extend_draw(self, wanted: Callable[[AuditDraw | None], AuditDraw | None]) -> None:
        """Add the draw that is wanted in view of the earlier one, if any; nobody else draws in between.

        Raises:
            ReviewStoreError: as `add`.
        """
        with self.locked():
            draw = wanted(self.draw())
            if draw is not None:
                self._append(DRAWS, draw)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes on this machine out for as long as the block runs; an object store needs no lock."""
        files, root = url_to_fs(self._folder.url)
        if not isinstance(files, LocalFileSystem):
            yield
            return
        with locked(Path(str(root)) / LOCK):
            yield

    def _append(self, name: str, record: Correction | AuditDraw | Finding) -> None:
        try:
            line = orjson.dumps(record) + b"\n"
        except TypeError as error:
            raise ReviewStoreError(f"a name or note is no Unicode text: {error}. Write it anew") from error
        self._folder.append_lines(name, [line])

    def _read(self, name: str, adapter: TypeAdapter[Strict[_Kept]]) -> list[_Kept]:
        found = []
        for number, line in enumerate(self._folder.lines(name), start=1):
            try:
                found.append(read_strict(adapter, line, "a record of a review"))
            except RunFolderError as error:
                raise ReviewStoreError(
                    f"line {number} of {self._folder.url}/{name} is damaged: {error.message}. Put the file of a backup "
                    "in its place"
                ) from error
        return found
