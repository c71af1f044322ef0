"""The serving-time verifier of one request, as exit rules and controls ask it."""

import logging
from dataclasses import dataclass
from enum import StrEnum

from unmask.tasks.formats import AnswerFormat, JsonSchema
from unmask.tasks.item import Task
from unmask.types import Message, Verification

LONGEST_DRAFT = 10_000
"""Characters of a draft that is looked at; a longer one fails."""
LARGEST_DRAFT_CHECK = 1_000_000
"""Most characters of a draft times the work of its schema: a few hundredths of a second at the very worst."""

_LOG = logging.getLogger(__name__)


class Judge(StrEnum):
    """Who says whether an answer passes: the verifier of its task type, the form asked for, or a person."""

    TASK = "task"
    FORMAT = "format"
    PERSON = "person"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerCheck:
    """What the request alone says of an answer: its task type's verifier and the form asked for, as far as there are.

    As a `DraftCheck` it is called by the thread that runs the engine, between two steps, so what it does is bounded
    by sizes that are known beforehand: a longer draft, or one whose schema takes more work, fails, and a rule that
    needs the format is then not met. Bounds of time would make the same request exit at different steps.
    """

    messages: tuple[Message, ...]
    task: Task | None
    answer_format: AnswerFormat | None

    @property
    def judges(self) -> tuple[Judge, ...]:
        """Who is asked."""
        asked = ((Judge.TASK, self.task), (Judge.FORMAT, self.answer_format))
        return tuple(judge for judge, verifier in asked if verifier is not None)

    def __call__(self, text: str) -> bool:
        """Judge a draft within the bounds; never raises."""
        if len(text) > LONGEST_DRAFT or self._work(text) > LARGEST_DRAFT_CHECK:
            return False
        return self.passes(text)

    def passes(self, text: str) -> bool:
        """Judge an answer; never raises."""
        try:
            return self._has_form(text) and (self.task is None or self.task.verify(self.messages, text).passed)
        except Exception:  # noqa: BLE001 - one that broke the engine's thread would take every request with it
            _LOG.exception("a verifier failed; its answer counts as failed")
            return False

    def _has_form(self, text: str) -> bool:
        return self.answer_format is None or self.answer_format.verify(text) is not Verification.FAIL

    def _work(self, text: str) -> int:
        return len(text) * self.answer_format.work if isinstance(self.answer_format, JsonSchema) else 0


def make_check(
    messages: tuple[Message, ...], task: Task | None, answer_format: AnswerFormat | None
) -> AnswerCheck | None:
    """Return the check of a request, or nothing where nobody can judge its answers."""
    if task is None and answer_format is None:
        return None
    return AnswerCheck(messages=messages, task=task, answer_format=answer_format)
