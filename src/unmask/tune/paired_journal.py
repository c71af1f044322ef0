"""The journal of a comparison: a line of settings, then a line an item and policy, so that a killed run goes on."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from unmask.tune.errors import CurveFileError, CurveRunError, ResumeError
from unmask.tune.line_file import Pen, go_on, read_lines
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
        lines = read_lines(path)
    except OSError as error:
        raise CurveFileError(f"cannot read {str(path)!r}: {error}") from error
    if not lines.whole:
        return PairedJournal(records=(), size=0)
    try:
        _check(path, _Header.model_validate_json(lines.whole[0]).settings, settings)
    except ValidationError as error:
        raise CurveFileError(f"{str(path)!r} is no journal of a comparison: {error.errors()[0]['msg']}") from error
    records = [_record(path, number, line) for number, line in enumerate(lines.whole[1:], start=2)]
    return PairedJournal(records=tuple({record.key: record for record in records}.values()), size=lines.size)


def _record(path: Path, number: int, line: bytes) -> PairedRecord:
    try:
        return _RECORD.validate_json(line)
    except ValidationError as error:
        raise CurveFileError(f"line {number} of {str(path)!r} is damaged: {error.errors()[0]['msg']}") from error


@contextmanager
def write_paired(path: Path, journal: PairedJournal, settings: PairedSettings) -> Iterator[Pen]:
    """Open the journal to go on behind its last whole line, or begin it.

    Raises:
        CurveRunError: it cannot be written.
    """
    try:
        with go_on(path, journal.size, {"format": FORMAT, "settings": settings}) as pen:
            yield pen
    except OSError as error:
        raise CurveRunError(
            f"cannot write {str(path)!r}: {error}; free some space, then go on with --resume"
        ) from error


def _check(path: Path, found: PairedSettings, wanted: PairedSettings) -> None:
    for field in fields(PairedSettings):
        was, now = getattr(found, field.name), getattr(wanted, field.name)
        if was != now:
            raise ResumeError(
                f"{str(path)!r} compares with {field.name} {was}, and now it is {now}; go on as it was begun, or name "
                "another --folder"
            )
