"""The journal of a row: what was measured, round by round, so that a killed run goes on with what there is."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from unmask.bench.layer_row import Round
from unmask.errors import UnmaskError
from unmask.tune.line_file import Pen, go_on, read_lines

_ROUND = TypeAdapter(Round)


class LayersJournalError(UnmaskError):
    """A journal is damaged, of something else, or cannot be written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowOf:
    """What all rounds of a journal share: rounds of two machines or versions are not one measurement."""

    row: str
    model_digest: str
    precision: str
    workload: str
    seed: int
    rounds: int
    machine: str
    commit: str | None

    @property
    def file_name(self) -> str:
        """Its name in the folder."""
        return f"{self.row}-{self.model_digest}-{self.precision}-{self.workload[:12]}-{self.seed}-{self.rounds}.jsonl"


class _Header(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    format: Literal["unmask.bench.layers/1"] = "unmask.bench.layers/1"
    of: RowOf


class RowJournal:
    """Rounds in the order measured; a new one is appended in one write that outlives the process."""

    def __init__(self, rounds: list[Round], pen: Pen) -> None:
        self._rounds = rounds
        self._pen = pen

    @property
    def rounds(self) -> tuple[Round, ...]:
        """What was measured so far."""
        return tuple(self._rounds)

    def note(self, measured: Round) -> None:
        """Keep a round."""
        self._pen.note(measured)
        self._rounds.append(measured)


@contextmanager
def open_row_journal(folder: Path, of: RowOf) -> Iterator[RowJournal]:
    """Open the journal of a row, or begin it; half a line at its end, as a killed run leaves it, is cut off.

    Raises:
        LayersJournalError: it is damaged, of something else, or cannot be written.
    """
    path = folder / of.file_name
    try:
        lines = read_lines(path)
        rounds = _parsed(path, lines.whole, of)
        with go_on(path, lines.size, _Header(of=of).model_dump()) as pen:
            yield RowJournal(rounds, pen)
    except OSError as error:
        raise LayersJournalError(f"cannot write {str(path)!r}: {error}; name another --folder") from error


def _parsed(path: Path, lines: Sequence[bytes], of: RowOf) -> list[Round]:
    if not lines:
        return []
    try:
        header = _Header.model_validate_json(lines[0])
        rounds = [_ROUND.validate_json(line) for line in lines[1:]]
    except ValidationError as error:
        raise LayersJournalError(
            f"{str(path)!r} is damaged: {error.errors()[0]['msg']}; remove the file or name another --folder"
        ) from error
    if header.of != of:
        raise LayersJournalError(
            f"{str(path)!r} is of {header.of}, and not of {of}; remove the file or name another --folder"
        )
    return rounds
