"""The verifier of a number."""

import re
from dataclasses import dataclass
from decimal import Decimal

from unmask.tasks.failure import FailureKind
from unmask.tasks.item import PASSED, CheckResult, failed
from unmask.tasks.span import Span
from unmask.tasks.verifier import LONGEST_ANSWER
from unmask.types import Message

LONGEST_NUMBER = 64
"""Characters of a number; a longer one fails."""

_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d{1,3})?", re.ASCII)


def last_number(text: str) -> re.Match[str] | None:
    """Return the last number of a text, which is where answers that reason first have theirs."""
    return max(_NUMBER.finditer(text), key=lambda found: found.start(), default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Numeric:
    """Passes an answer whose last number lies in a range.

    Attributes:
        minimum: least value.
        maximum: largest value.
        is_whole: whether it has to be a whole number.
        is_alone: whether nothing but the number may be there, blanks aside.
    """

    minimum: float | None = None
    maximum: float | None = None
    is_whole: bool = False
    is_alone: bool = False

    def judge(self, messages: tuple[Message, ...], text: str) -> CheckResult:  # noqa: ARG002 - the protocol's
        """Read the number and compare it."""
        if len(text) > LONGEST_ANSWER:
            return failed("longer than what is looked at", FailureKind.FORMAT)
        found = last_number(text)
        if found is None:
            return failed("no number", FailureKind.FORMAT)
        span = Span(start=found.start(), end=found.end())
        if len(found[0]) > LONGEST_NUMBER:
            return failed("a number too long to be one", FailureKind.FORMAT, span)
        if self.is_alone and text.strip() != found[0]:
            return failed("more than a number", FailureKind.FORMAT)
        reason = self._reason(found[0])
        return failed(reason, FailureKind.LOGIC, span) if reason else PASSED

    def _reason(self, number: str) -> str:
        """Say what is wrong with a number, or nothing."""
        value = Decimal(number)
        if self.is_whole and value != value.to_integral_value():
            return f"{number} is no whole number"
        if self.minimum is not None and value < Decimal(self.minimum):
            return f"{number} is below {self.minimum:g}"
        if self.maximum is not None and value > Decimal(self.maximum):
            return f"{number} is above {self.maximum:g}"
        return ""
