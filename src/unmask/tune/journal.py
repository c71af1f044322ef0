"""The journal of a curve run: a line of settings, then a line a measurement, so that a killed run goes on exactly."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from unmask.tune.errors import CurveFileError, CurveRunError, ResumeError
from unmask.tune.line_file import Pen, go_on, read_lines
from unmask.tune.origin import Origin
from unmask.tune.record import CurveRecord
from unmask.tune.settings import CurveSettings

FORMAT: Literal["unmask.curve.journal/1"] = "unmask.curve.journal/1"


class _Header(BaseModel):
    model_config = ConfigDict(extra="forbid")

    format: Literal["unmask.curve.journal/1"]
    settings: CurveSettings
    origin: Origin


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    task: str
    item: str
    difficulty: str
    budget: int
    steps: int
    seconds: float
    correct: bool


_LINE = TypeAdapter(_Line)


@dataclass(frozen=True, slots=True, kw_only=True)
class Journal:
    """What a journal holds.

    Attributes:
        size: bytes up to the end of the last whole line.
        torn: whether half a line follows, as a run that was killed leaves it.
    """

    settings: CurveSettings
    origin: Origin
    records: tuple[CurveRecord, ...]
    size: int
    torn: bool


def read_journal(path: Path) -> Journal | None:
    """Read a journal; nothing where there is none, or not even its first line is whole.

    Raises:
        CurveFileError: it cannot be read, is damaged, or is something else.
    """
    try:
        lines = read_lines(path)
    except OSError as error:
        raise CurveFileError(f"cannot read {str(path)!r}: {error}") from error
    if not lines.whole:
        return None
    try:
        header = _Header.model_validate_json(lines.whole[0])
    except ValidationError as error:
        raise CurveFileError(f"{str(path)!r} is no journal of a curve run: {_reason(error)}") from error
    return Journal(
        settings=header.settings,
        origin=header.origin,
        records=_records(path, lines.whole[1:]),
        size=lines.size,
        torn=lines.torn,
    )


def check_resumable(journal: Journal, settings: CurveSettings, origin: Origin) -> None:
    """Refuse to go on with a run that measures something else, or in another place.

    Raises:
        ResumeError: names what differs.
    """
    differing = [
        (field.name, getattr(journal.settings, field.name), getattr(settings, field.name))
        for field in fields(CurveSettings)
    ]
    differing += [(name, getattr(journal.origin, name), getattr(origin, name)) for name in ("machine", "commit")]
    for name, was, now in differing:
        if was != now:
            raise ResumeError(
                f"the folder holds a run with {name} {was!r}, and this one has {now!r}: its measurements would not be "
                "comparable; go on with the same arguments, code and machine, or name another --folder"
            )


@contextmanager
def write_journal(path: Path, journal: Journal | None, settings: CurveSettings, origin: Origin) -> Iterator[Pen]:
    """Open a journal to go on with, or a new one.

    Raises:
        CurveRunError: it cannot be written.
    """
    try:
        header = {"format": FORMAT, "settings": settings, "origin": origin}
        with go_on(path, 0 if journal is None else journal.size, header) as pen:
            yield pen
    except OSError as error:
        raise CurveRunError(
            f"cannot write {str(path)!r}: {error}; free some space or name another --folder, then go on with --resume"
        ) from error


def _records(path: Path, lines: Sequence[bytes]) -> tuple[CurveRecord, ...]:
    records: dict[tuple[str, str, int], CurveRecord] = {}
    for number, line in enumerate(lines, start=2):
        try:
            parsed = _LINE.validate_json(line)
        except ValidationError as error:
            raise CurveFileError(f"line {number} of {str(path)!r} is damaged: {_reason(error)}") from error
        record = CurveRecord(**parsed.model_dump())
        if record.key in records:
            raise CurveFileError(f"line {number} of {str(path)!r} is damaged: it measures {record.key} a second time")
        records[record.key] = record
    return tuple(records.values())


def _reason(error: ValidationError) -> str:
    first = error.errors()[0]
    place = ".".join(map(str, first["loc"]))
    return f"{place}: {first['msg']}" if place else first["msg"]
