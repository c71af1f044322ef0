"""Judges texts by one verifier."""

from unmask.tasks.failure import FailureKind
from unmask.tasks.verifier import Verifier
from unmask.types import Message, Role


def judged(verifier: Verifier, text: str, prompt: str = "go") -> FailureKind | None:
    """Return which kind of failure a text is, nothing where it passes."""
    result = verifier.judge((Message(role=Role.USER, content=prompt),), text)
    assert result.passed is (result.failure is None)
    return result.failure


def faulty(verifier: Verifier, text: str, prompt: str = "go") -> str | None:
    """Return the part of a text that a verifier finds at fault, nothing where it points at none."""
    span = verifier.judge((Message(role=Role.USER, content=prompt),), text).span
    return None if span is None else text[span.start : span.end]
