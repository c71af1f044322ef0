"""A bench's journal: a line of what it is of, then a line an entry, so that a killed run goes on with what there is."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from unmask.errors import UnmaskError
from unmask.tune.line_file import Pen, go_on, read_lines

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Entry = TypeVar("Entry")


class JournalError(UnmaskError):
    """A journal is damaged, of something else, or cannot be written."""


class _Header(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    format: str
    of: dict[str, object]


class Journal(Generic[Entry]):
    """Entries in the order they were made; a new one is appended in one write that outlives the process."""

    def __init__(self, entries: list[Entry], pen: Pen) -> None:
        self._entries = entries
        self._pen = pen

    @property
    def entries(self) -> tuple[Entry, ...]:
        """What there is so far."""
        return tuple(self._entries)

    def note(self, entry: Entry) -> None:
        """Keep an entry."""
        self._pen.note(entry)
        self._entries.append(entry)


@contextmanager
def open_journal(path: Path, of: "DataclassInstance", kind: type[Entry], named: str) -> "Iterator[Journal[Entry]]":
    """Open a journal, or begin it; half a line at its end, as a killed run leaves it, is cut off.

    Args:
        path: of the file.
        of: what all of its entries share.
        kind: a dataclass that an entry is.
        named: the format, with its version.

    Raises:
        JournalError: it is damaged, of something else, or cannot be written.
    """
    try:
        lines = read_lines(path)
        entries = _parsed(path, lines.whole, of, TypeAdapter(kind), named)
        header = _Header(format=named, of=asdict(of))
        with go_on(path, lines.size, header.model_dump()) as pen:
            yield Journal(entries, pen)
    except OSError as error:
        raise JournalError(f"cannot write {str(path)!r}: {error}; name another --folder") from error


def _parsed(
    path: Path, lines: Sequence[bytes], of: "DataclassInstance", kind: TypeAdapter[Entry], named: str
) -> list[Entry]:
    if not lines:
        return []
    try:
        header = _Header.model_validate_json(lines[0])
        found = TypeAdapter(type(of)).validate_python(header.of)
        entries = [kind.validate_json(line) for line in lines[1:]]
    except ValidationError as error:
        raise JournalError(
            f"{str(path)!r} is damaged: {error.errors()[0]['msg']}; remove the file or name another --folder"
        ) from error
    if (header.format, found) != (named, of):
        raise JournalError(
            f"{str(path)!r} is {header.format} of {found}, and not {named} of {of}; remove the file or name another "
            "--folder"
        )
    return entries
