"""The value every generator makes and every checker reads."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import Protocol

from unmask.tasks.failure import FailureKind
from unmask.tasks.span import Span
from unmask.types import Message, Role


class Split(StrEnum):
    """Which part of the work may see an item: 70 / 10 / 10 / 10 percent."""

    TRAIN = "train"
    TUNE = "tune"
    CALIBRATE = "calibrate"
    TEST = "test"


def split_of(canonical: str) -> Split:
    """Return the split that the hash of a canonical form falls into."""
    return split_of_digest(hashlib.sha256(canonical.encode()).hexdigest())


def split_of_digest(digest: str) -> Split:
    """Return the split of an item by its `Item.digest`: records tell which one they are from."""
    match int(digest[:8], 16) % 10:
        case 7:
            return Split.TUNE
        case 8:
            return Split.CALIBRATE
        case 9:
            return Split.TEST
        case _:
            return Split.TRAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class Difficulty:
    """Position of an item on its task type's difficulty axes, e.g. ``(("hops", 2), ("facts", 8))``."""

    axes: tuple[tuple[str, int], ...]

    def __getitem__(self, axis: str) -> int:
        """Return the value on one axis; unknown axes are a ``KeyError``."""
        return dict(self.axes)[axis]

    def __str__(self) -> str:
        """Return ``axis=value`` pairs for tables and records."""
        return " ".join(f"{axis}={value}" for axis, value in self.axes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One generated request with a reference answer and what a checker needs to know."""

    task: str
    messages: tuple[Message, ...]
    answer: str
    difficulty: Difficulty
    canonical: str
    accepted: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """Hash of the canonical form; names the item in records."""
        return hashlib.sha256(self.canonical.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """Verdict of a checker (knows the truth) or verifier (knows the request only).

    Attributes:
        failure: which kind of failure it is; ``None`` for what passed, and where the request itself is at fault.
        span: which part of the text is at fault, where that can be told.
    """

    passed: bool
    reason: str = ""
    failure: FailureKind | None = None
    span: Span | None = None


PASSED = CheckResult(passed=True)


def failed(reason: str, failure: FailureKind | None = None, span: Span | None = None) -> CheckResult:
    """Return a failed result that says why, and where if that can be told."""
    return CheckResult(passed=False, reason=reason, failure=failure, span=span)


def question_of(messages: Sequence[Message]) -> str:
    """Return the last user message, or nothing: what a verifier reads a request from."""
    return next((message.content for message in reversed(messages) if message.role is Role.USER), "")


class Task(Protocol):
    """One task type: a seeded generator, an exact checker and a serving-time verifier."""

    @property
    def name(self) -> str:
        """Name used in ``diffusion.task``, records and figures."""
        ...

    def generate(self, rng: Random, split: Split) -> Item:
        """Draw one item of ``split``; draws again until the canonical form's hash falls into it."""
        ...

    def check(self, item: Item, text: str) -> CheckResult:
        """Judge ``text`` knowing the truth. Offline only."""
        ...

    def verify(self, messages: tuple[Message, ...], text: str) -> CheckResult:
        """Judge ``text`` from the request alone, as a server can. Never raises on odd text."""
        ...
