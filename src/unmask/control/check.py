"""The serving-time verifiers of one request, as exit rules, controls and re-expansion ask them."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass

from unmask.control.verdict import Failure, Judge, Verdict
from unmask.tasks.completeness import COMPLETENESS
from unmask.tasks.consistency import SelfConsistency
from unmask.tasks.failure import FailureKind
from unmask.tasks.form import Form
from unmask.tasks.formats import AnswerFormat, JsonSchema, schema_of
from unmask.tasks.item import CheckResult, Task, failed
from unmask.tasks.refutation import REFUTATION, is_no_json
from unmask.tasks.verifier import Verifier
from unmask.types import DraftCheck, Message

LONGEST_DRAFT = 10_000
"""Characters of a draft that is looked at; a longer one fails."""
LARGEST_DRAFT_CHECK = 1_000_000
"""Most characters of a draft times the work of its schema: a few hundredths of a second at the very worst."""

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerCheck:
    """What the request alone says of an answer: its task type's verifier and what the client asks, as far as there are.

    As a `DraftCheck` it is called by the thread that runs the engine, between two steps, so what it does is bounded
    by sizes that are known beforehand: a longer draft, or one whose schema takes more work, fails, and a rule that
    needs the format is then not met. Bounds of time would make the same request exit at different steps.

    Attributes:
        answer_format: the form asked for.
        verifiers: what else is asked for.
    """

    messages: tuple[Message, ...]
    task: Task | None
    answer_format: AnswerFormat | None
    verifiers: tuple[Verifier, ...] = ()

    @property
    def judges(self) -> tuple[Judge, ...]:
        """Who is asked."""
        is_asked = self.answer_format is not None or bool(self.verifiers)
        asked = ((Judge.TASK, self.task is not None), (Judge.FORMAT, is_asked))
        return tuple(judge for judge, is_there in asked if is_there)

    def __call__(self, text: str) -> bool:
        """Judge a draft within the bounds; never raises."""
        if len(text) > LONGEST_DRAFT or self._work(text) > LARGEST_DRAFT_CHECK:
            return False
        return self.passes(text)

    def passes(self, text: str) -> bool:
        """Judge an answer; never raises. A request that its task type's verifier cannot read fails."""
        return all(result.passed or _asks_nothing(judge, result) for judge, result in self._results(text))

    def verdict(self, text: str) -> Verdict:
        """Judge an answer and say what is wrong with it; never raises.

        A task type's verifier that cannot read the request has nothing to say: the task type may have been told
        wrongly from the prompt, and that is no fault of the answer.
        """
        passed = 0
        failures: list[Failure] = []
        for judge, result in self._results(text):
            passed += result.passed
            if result.failure is not None:
                failures.append(Failure(kind=result.failure, judge=judge, reason=result.reason, span=result.span))
        return Verdict(passed=passed, failures=tuple(failures))

    @property
    def complete(self) -> DraftCheck | None:
        """What tells that the beginning of an answer is all of it, and passes; nothing where nobody can."""
        completes = None if self.task is None else COMPLETENESS.get(self.task.name)
        if completes is None:
            return None

        def is_complete(text: str) -> bool:
            return len(text) <= LONGEST_DRAFT and completes(self.messages, text) and self(text)

        return is_complete

    @property
    def refutes(self) -> DraftCheck | None:
        """What tells of the beginning of an answer that no continuation passes; nothing where nobody can."""
        by_task = None if self.task is None else REFUTATION.get(self.task.name)
        is_json = schema_of(self.answer_format) is not None
        if by_task is None and not is_json:
            return None

        def is_refuted(text: str) -> bool:
            told = by_task is not None and by_task(self.messages, text)
            return told or (is_json and is_no_json(text))

        return is_refuted

    @property
    def accepts_drafts(self) -> bool:
        """Whether a draft that passes may be the answer: where the task type's verifier says what it has to hold.

        A form alone is met long before what is in it is right.
        """
        return self.task is not None

    @property
    def is_looked_at(self) -> bool:
        """Whether anything can be said of an answer before its end."""
        return self.accepts_drafts or self.refutes is not None

    def _results(self, text: str) -> Iterator[tuple[Judge, CheckResult]]:
        """Ask everyone, those first whose verdict is cheapest and says most."""
        asked: list[tuple[Judge, Verifier]] = []
        if self.answer_format is not None:
            asked.append((Judge.FORMAT, Form(form=self.answer_format)))
        asked += [(Judge.FORMAT, verifier) for verifier in self.verifiers]
        if self.task is not None:
            asked.append((Judge.TASK, _OfTask(task=self.task)))
        for judge, verifier in asked:
            try:
                yield judge, verifier.judge(self.messages, text)
            except Exception:  # noqa: BLE001 - one that broke the engine's thread would take every request with it
                _LOG.exception("a verifier failed; its answer counts as failed")
                yield judge, failed("the verifier failed", FailureKind.LOGIC)

    def _work(self, text: str) -> int:
        return len(text) * self.answer_format.work if isinstance(self.answer_format, JsonSchema) else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldTo:
    """What a client asks of an answer, beside what its task type knows.

    Attributes:
        answer_format: the form that it is verified against.
        verifiers: what else it is verified against.
        consistency: how samples are compared with it, if they are.
    """

    answer_format: AnswerFormat | None = None
    verifiers: tuple[Verifier, ...] = ()
    consistency: SelfConsistency | None = None

    @property
    def is_something(self) -> bool:
        """Whether anything is asked."""
        return self.answer_format is not None or bool(self.verifiers) or self.consistency is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class _OfTask:
    task: Task

    def judge(self, messages: tuple[Message, ...], text: str) -> CheckResult:
        return self.task.verify(messages, text)


def _asks_nothing(judge: Judge, result: CheckResult) -> bool:
    return judge is Judge.FORMAT and result.failure is None


def make_check(
    messages: tuple[Message, ...],
    task: Task | None,
    answer_format: AnswerFormat | None,
    verifiers: tuple[Verifier, ...] = (),
) -> AnswerCheck | None:
    """Return the check of a request, or nothing where nobody can judge its answers."""
    if task is None and answer_format is None and not verifiers:
        return None
    return AnswerCheck(messages=messages, task=task, answer_format=answer_format, verifiers=verifiers)
