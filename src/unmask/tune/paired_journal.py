"""The journal of a comparison: a line of settings, then a line an item and policy, so that a killed run goes on."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import IO, Literal

import orjson
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from unmask.tune.errors import CurveFileError, CurveRunError, ResumeError
from unmask.tune.paired_run import PairedRecord, PairedSettings

FORMAT: Literal["unmask.paired.journal/1"] = "unmask.paired.journal/1"
_RECORD = TypeAdapter(PairedRecord)


class _Header(BaseModel):
    model_config = ConfigDict(extra="forbid")

    format: Literal["unmask.paired.journal/1"]
    settings: PairedSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedJournal:
    """What was measured already; ``size`` is that of the whole lines in bytes, 0 where there are none."""

    records: tuple[PairedRecord, ...]
    size: int


def read_paired(path: Path, settings: PairedSettings) -> PairedJournal:
    """Read the journal of a comparison that is to go on; half a last line counts for nothing.

    Raises:
        CurveFileError: it cannot be read or is damaged.
        ResumeError: it compares something else; names what differs.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return PairedJournal(records=(), size=0)
    except OSError as error:
        raise CurveFileError(f"cannot read {str(path)!r}: {error}") from error
    size = data.rfind(b"\n") + 1
    lines = data[:size].splitlines()
    if not lines:
        return PairedJournal(records=(), size=0)
    try:
        _check(path, _Header.model_validate_json(lines[0]).settings, settings)
    except ValidationError as error:
        raise CurveFileError(f"{str(path)!r} is no journal of a comparison: {error.errors()[0]['msg']}") from error
    records = [_record(path, number, line) for number, line in enumerate(lines[1:], start=2)]
    return PairedJournal(records=tuple({record.key: record for record in records}.values()), size=size)


def _record(path: Path, number: int, line: bytes) -> PairedRecord:
    try:
        return _RECORD.validate_json(line)
    except ValidationError as error:
        raise CurveFileError(f"line {number} of {str(path)!r} is damaged: {error.errors()[0]['msg']}") from error


@contextmanager
def write_paired(path: Path, journal: PairedJournal, settings: PairedSettings) -> Iterator["PairedPen"]:
    """Open the journal to go on behind its last whole line, or begin it.

    Raises:
        CurveRunError: it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("r+b" if path.exists() else "w+b", buffering=0) as file:
            file.truncate(journal.size)
            file.seek(0, os.SEEK_END)
            if not journal.size:
                file.write(orjson.dumps({"format": FORMAT, "settings": settings}) + b"\n")
            yield PairedPen(file)
    except OSError as error:
        raise CurveRunError(
            f"cannot write {str(path)!r}: {error}; free some space, then go on with --resume"
        ) from error


class PairedPen:
    """Appends to a journal, each line in one write that outlives the process."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def note(self, record: PairedRecord) -> None:
        """Append what was measured of an item."""
        self._file.write(orjson.dumps(record) + b"\n")


def _check(path: Path, found: PairedSettings, wanted: PairedSettings) -> None:
    for field in fields(PairedSettings):
        was, now = getattr(found, field.name), getattr(wanted, field.name)
        if was != now:
            raise ResumeError(
                f"{str(path)!r} compares with {field.name} {was}, and now it is {now}; go on as it was begun, or name "
                "another --folder"
            )
