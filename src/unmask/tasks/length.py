"""The verifier of a length."""

from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from unmask.tasks.failure import FailureKind
from unmask.tasks.item import PASSED, CheckResult, failed
from unmask.tasks.span import Span
from unmask.types import Message


class LengthUnit(StrEnum):
    """What is counted: characters, words apart by blanks, or lines that are not blank."""

    CHARACTERS = "characters"
    WORDS = "words"
    LINES = "lines"


@dataclass(frozen=True, slots=True, kw_only=True)
class Length:
    """Passes an answer of so many characters, words or lines; blanks around it do not count."""

    unit: LengthUnit = LengthUnit.CHARACTERS
    minimum: int | None = None
    maximum: int | None = None

    def judge(self, messages: tuple[Message, ...], text: str) -> CheckResult:  # noqa: ARG002 - the protocol's
        """Count and compare."""
        count = self._count(text.strip())
        if self.minimum is not None and count < self.minimum:
            return failed(f"{count} {self.unit}, fewer than {self.minimum}", FailureKind.FORMAT)
        if self.maximum is not None and count > self.maximum:
            # The end of it is too much, whatever the beginning is.
            start = min(len(text) - 1, len(text) * self.maximum // count)
            return failed(
                f"{count} {self.unit}, more than {self.maximum}", FailureKind.FORMAT, Span(start=start, end=len(text))
            )
        return PASSED

    def _count(self, text: str) -> int:
        match self.unit:
            case LengthUnit.CHARACTERS:
                return len(text)
            case LengthUnit.WORDS:
                return len(text.split())
            case LengthUnit.LINES:
                return sum(bool(line.strip()) for line in text.splitlines())
            case _:
                assert_never(self.unit)
