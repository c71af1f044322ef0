"""Journals of what the policy bench has measured: a line of what it is of, then a line an answer.

The opponents' settings take the best part of an hour and the look at test items another, so that a run that was
killed goes on with what there is, and one of another policy with what was tuned. A file is named by its part, the
weights, the precision and the seed, which together with item and setting fix an answer. Latencies are kept of the look
alone: nothing is tuned by them.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from unmask.bench.trial import Answer
from unmask.errors import UnmaskError
from unmask.tune.line_file import Pen, go_on, read_lines

FORMAT: Literal["unmask.bench.tuning/1"] = "unmask.bench.tuning/1"


class TuningJournalError(UnmaskError):
    """A journal is damaged, of something else, or cannot be written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """What is measured once: an item, and the way it is answered in words that name every setting."""

    item: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalOf:
    """What all answers of a journal share, and whether they are those of the look at test items."""

    model_digest: str
    precision: str
    seed: int
    is_look: bool = False

    @property
    def file_name(self) -> str:
        """Its name in the folder."""
        return f"{'look' if self.is_look else 'tuning'}-{self.model_digest}-{self.precision}-{self.seed}.jsonl"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Header(_Strict):
    format: Literal["unmask.bench.tuning/1"]
    model_digest: str
    precision: str
    seed: int


class _Line(_Strict):
    item: str
    label: str
    steps: int
    tokens: int
    correct: bool
    seconds: float | None = None


class TuningJournal:
    """Answers by what was asked; a new one is appended in one write that outlives the process."""

    def __init__(self, answers: dict[Key, Answer], pen: Pen, *, keeps_seconds: bool = False) -> None:
        self._answers = answers
        self._pen = pen
        self._keeps_seconds = keeps_seconds

    def __contains__(self, key: Key) -> bool:
        return key in self._answers

    def __getitem__(self, key: Key) -> Answer:
        return self._answers[key]

    def __len__(self) -> int:
        return len(self._answers)

    @property
    def keys(self) -> tuple[Key, ...]:
        """What was asked, in the order of the answers."""
        return tuple(self._answers)

    def note(self, key: Key, answer: Answer) -> None:
        """Keep an answer."""
        line = _Line(
            item=key.item,
            label=key.label,
            steps=answer.steps,
            tokens=answer.tokens,
            correct=answer.correct,
            seconds=answer.seconds if self._keeps_seconds else None,
        )
        self._pen.note(line.model_dump(exclude_none=True))
        self._answers[key] = answer


@contextmanager
def open_tuning_journal(folder: Path, of: JournalOf) -> Iterator[TuningJournal]:
    """Open the journal of a folder, or begin it; half a line at its end, as a killed run leaves it, is cut off.

    Raises:
        TuningJournalError: it is damaged, or cannot be written.
    """
    path = folder / of.file_name
    try:
        lines = read_lines(path)
        answers = _parsed(path, lines.whole, of)
        header = _Header(format=FORMAT, model_digest=of.model_digest, precision=of.precision, seed=of.seed)
        with go_on(path, lines.size, header.model_dump()) as pen:
            yield TuningJournal(answers, pen, keeps_seconds=of.is_look)
    except OSError as error:
        raise TuningJournalError(f"cannot write {str(path)!r}: {error}; name another --folder") from error


def _parsed(path: Path, lines: Sequence[bytes], of: JournalOf) -> dict[Key, Answer]:
    if not lines:
        return {}
    answers: dict[Key, Answer] = {}
    try:
        header = _Header.model_validate_json(lines[0])
        for text in lines[1:]:
            line = _Line.model_validate_json(text)
            answers[Key(item=line.item, label=line.label)] = Answer(
                steps=line.steps, tokens=line.tokens, seconds=line.seconds or 0.0, correct=line.correct
            )
    except ValidationError as error:
        raise TuningJournalError(
            f"{str(path)!r} is damaged after {len(answers)} answers: {error.errors()[0]['msg']}; remove the file or "
            "name another --folder"
        ) from error
    if (header.model_digest, header.precision, header.seed) != (of.model_digest, of.precision, of.seed):
        raise TuningJournalError(
            f"{str(path)!r} is of model {header.model_digest}, {header.precision}, seed {header.seed}, and not of "
            f"{of.model_digest}, {of.precision}, {of.seed}; remove the file or name another --folder"
        )
    return answers
