"""What may be asked of an answer while serving: fixed kinds, that read the request and the answer and run no code."""

from typing import Protocol

from unmask.tasks.item import CheckResult
from unmask.types import Message

LONGEST_ANSWER = 1_000_000
"""Characters of an answer that a verifier looks at; a longer one fails."""


class Verifier(Protocol):
    """One thing that an answer is held to; it sees the request and the answer, never a truth.

    What it does takes time in proportion to the lengths of both, whatever they hold.
    """

    def judge(self, messages: tuple[Message, ...], text: str) -> CheckResult:
        """Judge an answer; never raises on any text."""
        ...
