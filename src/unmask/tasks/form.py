"""The verifier of a form: what `unmask.tasks.formats` decides, with the part of the answer that is at fault."""

from dataclasses import dataclass
from typing import assert_never

from unmask.tasks.failure import FailureKind
from unmask.tasks.formats import AnswerFormat, JsonObject, JsonSchema
from unmask.tasks.item import PASSED, CheckResult, failed
from unmask.tasks.json_place import syntax_fault, value_at
from unmask.tasks.span import Span
from unmask.types import Message, Verification


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """Passes an answer that has a form, and has nothing to say of one that the form asks nothing of."""

    form: AnswerFormat

    def judge(self, messages: tuple[Message, ...], text: str) -> CheckResult:  # noqa: ARG002 - the protocol's
        """Judge the answer."""
        found = self.form.verify(text)
        match found:
            case Verification.PASS:
                return PASSED
            case Verification.SKIPPED:
                return failed("nothing is asked of it")
            case Verification.FAIL:
                return failed("has not the form asked for", FailureKind.FORMAT, self._place(text))
            case _:
                assert_never(found)

    def _place(self, text: str) -> Span | None:
        if not isinstance(self.form, JsonObject | JsonSchema):
            return None
        broken = syntax_fault(text)
        if broken is not None or isinstance(self.form, JsonObject):
            return broken
        path = self.form.fault(text)
        return None if path is None else value_at(text, path)
