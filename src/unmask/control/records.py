"""What is kept of control runs, of early-exited answers that failed, and of what people say of controls."""

from dataclasses import dataclass
from pathlib import Path

import orjson
from pydantic import TypeAdapter

from unmask.control.journal import KEPT_FILES, LARGEST_FILE, Journal, Read
from unmask.control.verdict import Judge
from unmask.types import Bucket, Message, ProgressSignal

CONTROLS = "controls"
FAILURES = "failures"
LABELS = "labels"


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlRecord:
    """One control run: the request's full run beside what it would have been with the exit.

    Attributes:
        id: names the record; several choices of one request have one each.
        time: when it ended, in seconds since 1970.
        policy: digest of the policy whose rule was observed.
        probability: with which it was drawn; its weight is the inverse.
        max_steps: budget of a canvas.
        steps: denoise steps of the full run.
        exit_steps: steps it would have taken with the exit; ``None`` where the rule was never met.
        passed: what ``judges`` say of the full run's text; ``None`` without judges.
        exit_passed: what they say of the exit's; ``None`` without judges, or where the rule was never met.
        diverged: whether the exit's text is another; ``None`` where the rule was never met.
        features: what its difficulty was estimated from.
    """

    id: str
    time: float
    request_id: str
    model: str
    model_digest: str
    policy: str
    task: str
    service_class: str
    probability: float
    bucket: Bucket | None
    max_steps: int
    score: float | None
    bin: int | None
    features: tuple[tuple[str, float], ...]
    steps: int
    exit_steps: int | None
    judges: tuple[Judge, ...]
    passed: bool | None
    exit_passed: bool | None
    diverged: bool | None
    messages: tuple[Message, ...]
    text: str
    exit_text: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureRecord:
    """An answer that was stopped early and failed its verifier, with the signals it was stopped at.

    What such answers have in common proposes thresholds. They are no random sample, so they estimate nothing.
    """

    id: str
    time: float
    request_id: str
    model: str
    model_digest: str
    policy: str
    task: str
    service_class: str
    score: float | None
    bin: int | None
    steps: int
    signals: tuple[tuple[ProgressSignal, float], ...]
    judges: tuple[Judge, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A person's verdict on both texts of a control; the last one counts, over any verifier's."""

    control: str
    time: float
    by: str
    passed: bool
    exit_passed: bool


_CONTROLS = TypeAdapter(ControlRecord)
_FAILURES = TypeAdapter(FailureRecord)
_LABELS = TypeAdapter(Label)


class RecordFolder:
    """The folder of records: ``controls.jsonl``, ``failures.jsonl``, ``labels.jsonl`` and their older parts.

    Controls hold prompts and answers, so the files are their owner's alone. There are at most ``kept`` files of each
    kind of at most ``largest`` bytes; labels are never deleted.
    """

    def __init__(self, folder: Path, *, largest: int = LARGEST_FILE, kept: int = KEPT_FILES) -> None:
        self.path = folder
        self._controls = Journal(folder=folder, name=CONTROLS, largest=largest, kept=kept)
        self._failures = Journal(folder=folder, name=FAILURES, largest=largest, kept=kept)
        self._labels = Journal(folder=folder, name=LABELS, largest=1 << 62)

    def add(self, record: ControlRecord | FailureRecord | Label) -> None:
        """Add a record.

        Raises:
            OSError: it cannot be written.
        """
        match record:
            case ControlRecord():
                journal = self._controls
            case FailureRecord():
                journal = self._failures
            case _:
                journal = self._labels
        # What a client sent may hold halves of surrogate pairs no more: bodies with them are refused.
        journal.append(orjson.dumps(record))

    def controls(self) -> Read[ControlRecord]:
        """Read all controls."""
        return self._controls.read(_CONTROLS)

    def lacks_oldest(self) -> bool:
        """Whether so much was written that the oldest controls may have been deleted."""
        return self._controls.is_full()

    def failures(self) -> Read[FailureRecord]:
        """Read all early-exited answers that failed."""
        return self._failures.read(_FAILURES)

    def labels(self) -> Read[Label]:
        """Read everything people said of controls."""
        return self._labels.read(_LABELS)
