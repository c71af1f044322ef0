"""The verifier of a regular expression."""

import jsonschema_rs

from unmask.errors import UnmaskError, shown
from unmask.tasks.failure import FailureKind
from unmask.tasks.item import PASSED, CheckResult, failed
from unmask.tasks.verifier import LONGEST_ANSWER
from unmask.types import Message

LONGEST_PATTERN = 4_096
"""Characters of a pattern."""
_COMPILED_BYTES = 1 << 19


class InvalidPatternError(UnmaskError):
    """A pattern cannot be matched in linear time, or is none.

    Attributes:
        allowed: what is allowed instead.
    """

    allowed = "a regular expression of moderate size, without look-around and back-references"


class Pattern:
    """Passes an answer that a regular expression matches as a whole, blanks around it aside.

    The engine is the one that patterns in JSON Schemas go through (the ``regex`` crate of Rust): its time is linear in
    the text whatever the pattern.

    Raises:
        InvalidPatternError: the engine does not take the pattern.
    """

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        # By itself first: put between brackets, ``a)|(b`` would become a pattern that it is not.
        _compiled(pattern, pattern)
        self._validator = _compiled(f"^(?:{pattern})$", pattern)

    def __reduce__(self) -> tuple[type["Pattern"], tuple[str]]:
        """Go to another process as the pattern, which is compiled anew there."""
        return Pattern, (self.pattern,)

    def judge(self, messages: tuple[Message, ...], text: str) -> CheckResult:  # noqa: ARG002 - the protocol's
        """Match the whole answer."""
        if len(text) > LONGEST_ANSWER:
            return failed("longer than what is matched", FailureKind.FORMAT)
        if self._validator.is_valid(text.strip()):
            return PASSED
        return failed("does not match the pattern", FailureKind.FORMAT)


def _compiled(pattern: str, asked: str) -> jsonschema_rs.Validator:
    try:
        return jsonschema_rs.validator_for(
            {"pattern": pattern},
            offline=True,
            pattern_options=jsonschema_rs.RegexOptions(size_limit=_COMPILED_BYTES, dfa_size_limit=_COMPILED_BYTES),
        )
    except (jsonschema_rs.ValidationError, ValueError) as error:
        raise InvalidPatternError(f"{shown(asked)} is no pattern that is matched here.") from error
