"""What an answer's form can be held to while serving: a JSON object, or a JSON Schema.

Verification sees the answer and the format, never a truth. Schemas are compiled
once per call by `jsonschema_rs`; a reference that leads outside the schema is
refused when the schema is made, so nothing is ever fetched.
"""

from typing import Protocol

from unmask.types import Verification


class AnswerFormat(Protocol):
    """A form that answers are verified against."""

    def verify(self, text: str) -> Verification:
        """Say whether the text has the form; never raises on any text."""
        ...
