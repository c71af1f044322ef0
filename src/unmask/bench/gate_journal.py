"""The journal of the gate bench: a line of what it is of, then a line for each scenario's answers in one arm and seed.

A full run takes the best part of an hour; one that was killed goes on with what there is. Everything that fixes an
answer is in the first line, so that a journal of something else is refused. Seconds are kept as they were measured.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from unmask.bench.gate_stages import Stage
from unmask.errors import UnmaskError
from unmask.tune.line_file import Pen, go_on, read_lines
from unmask.types import Mode

FORMAT: Literal["unmask.bench.gate/1"] = "unmask.bench.gate/1"


class GateJournalError(UnmaskError):
    """A journal is damaged, of something else, or cannot be written."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Arm:
    """A stage and a mode of the same weights."""

    stage: Stage
    mode: Mode

    @property
    def name(self) -> str:
        """What its figures begin with."""
        return f"{self.stage}.{self.mode}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """What is asked once."""

    scenario: str
    arm: Arm
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The answer to a turn: its text, and what it took from admission to the end."""

    text: str
    steps: int
    tokens: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalOf:
    """What fixes all answers of a journal.

    Attributes:
        suite: digest of the suite.
        ways: digest of how each stage retrieves, and from what.
        policy: digest of the budget policy; empty where there is none.
    """

    model_digest: str
    precision: str
    suite: str
    ways: str
    policy: str
    temperature: float

    @property
    def file_name(self) -> str:
        """Its name in the folder."""
        return f"gate-{self.model_digest}-{self.precision}-{self.suite[:12]}.jsonl"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Header(_Strict):
    format: Literal["unmask.bench.gate/1"]
    model_digest: str
    precision: str
    suite: str
    ways: str
    policy: str
    temperature: float


class _Turn(_Strict):
    text: str
    steps: int
    tokens: int
    seconds: float


class _Line(_Strict):
    scenario: str
    stage: Stage
    mode: Mode
    seed: int
    turns: list[_Turn]


Replies = dict[Key, tuple[Reply, ...]]


class GateJournal:
    """Answers by what was asked; a new one is appended in one write that outlives the process."""

    def __init__(self, replies: Replies, pen: Pen) -> None:
        self._replies = replies
        self._pen = pen

    def __contains__(self, key: Key) -> bool:
        return key in self._replies

    def __getitem__(self, key: Key) -> tuple[Reply, ...]:
        return self._replies[key]

    def __len__(self) -> int:
        return len(self._replies)

    def note(self, key: Key, replies: Sequence[Reply]) -> None:
        """Keep the answers to a scenario's turns."""
        turns = [asdict(reply) for reply in replies]
        arm = {"stage": key.arm.stage, "mode": key.arm.mode}
        self._pen.note({"scenario": key.scenario, **arm, "seed": key.seed, "turns": turns})
        self._replies[key] = tuple(replies)


@contextmanager
def open_gate_journal(folder: Path, of: JournalOf) -> Iterator[GateJournal]:
    """Open the journal of a folder, or begin it; half a line at its end, as a killed run leaves it, is cut off.

    Raises:
        GateJournalError: it is damaged, of something else, or cannot be written.
    """
    path = folder / of.file_name
    try:
        lines = read_lines(path)
        replies = _parsed(path, lines.whole, of)
        with go_on(path, lines.size, {"format": FORMAT, **asdict(of)}) as pen:
            yield GateJournal(replies, pen)
    except OSError as error:
        raise GateJournalError(f"cannot write {str(path)!r}: {error}; name another --folder") from error


def _parsed(path: Path, lines: Sequence[bytes], of: JournalOf) -> Replies:
    if not lines:
        return {}
    replies: Replies = {}
    try:
        header = _Header.model_validate_json(lines[0])
        for text in lines[1:]:
            line = _Line.model_validate_json(text)
            arm = Arm(stage=line.stage, mode=line.mode)
            replies[Key(scenario=line.scenario, arm=arm, seed=line.seed)] = tuple(
                Reply(**turn.model_dump()) for turn in line.turns
            )
    except ValidationError as error:
        raise GateJournalError(
            f"{str(path)!r} is damaged after {len(replies)} answers: {error.errors()[0]['msg']}; remove the file or "
            "name another --folder"
        ) from error
    found = JournalOf(**header.model_dump(exclude={"format"}))
    if found != of:
        raise GateJournalError(
            f"{str(path)!r} was made with {found}, and this run is with {of}; remove the file or name another --folder"
        )
    return replies
