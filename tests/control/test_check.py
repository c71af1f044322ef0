"""Behaviour of `unmask.control.check`."""

import pytest

from unmask.control.check import LARGEST_DRAFT_CHECK, LONGEST_DRAFT, AnswerCheck, make_check
from unmask.control.verdict import Judge
from unmask.tasks.formats import JsonObject, JsonSchema
from unmask.tasks.item import CheckResult
from unmask.tasks.patterns import Pattern
from unmask.tasks.registry import all_tasks
from unmask.types import Message, Role

MESSAGES = (Message(role=Role.USER, content="sort 3 , 1"),)
SORT = all_tasks()["sort"]


def check_of(answer: str, **verifiers: object) -> bool:
    """Judge a draft."""
    check = make_check(MESSAGES, verifiers.get("task"), verifiers.get("answer_format"))  # type: ignore[arg-type]
    assert check is not None
    return check(answer)


def test_all_verifiers_have_to_pass() -> None:
    """Task type and form are both asked, as far as there are."""
    assert check_of("1, 3", task=SORT)
    assert not check_of("3, 1", task=SORT)
    assert check_of("{}", answer_format=JsonObject())
    assert not check_of("1, 3", task=SORT, answer_format=JsonObject())


def test_judges_are_named() -> None:
    """Whoever reads a verdict knows whose it is."""
    assert AnswerCheck(messages=MESSAGES, task=SORT, answer_format=JsonObject()).judges == (Judge.TASK, Judge.FORMAT)
    assert AnswerCheck(messages=MESSAGES, task=None, answer_format=JsonObject()).judges == (Judge.FORMAT,)
    assert make_check(MESSAGES, None, None) is None


def test_draft_beyond_the_bounds_is_not_looked_at() -> None:
    """Too long, or too much work for a thread that others wait for; the whole answer is judged all the same."""
    work = JsonSchema({"items": {"allOf": [{"minimum": -least} for least in range(600)]}})
    check = AnswerCheck(messages=MESSAGES, task=None, answer_format=work)
    draft = "[" + ",".join(["1"] * 1_000) + "]"
    assert len(draft) * work.work > LARGEST_DRAFT_CHECK

    assert (check(draft), check.passes(draft)) == (False, True)
    assert (check("[1]"), check.passes("[1]")) == (True, True)
    long = f'{{"a": "{"x" * LONGEST_DRAFT}"}}'
    assert not check_of(long, answer_format=JsonObject())


def test_broken_verifier_fails_the_answer_only(caplog: pytest.LogCaptureFixture) -> None:
    """The engine's thread goes on, and the log says what happened."""

    class Broken:
        name = "broken"

        def verify(self, messages: tuple[Message, ...], text: str) -> CheckResult:
            raise ZeroDivisionError

    assert not check_of("1, 3", task=Broken())
    assert "a verifier failed" in caplog.text


def test_a_draft_is_accepted_where_a_task_type_says_what_an_answer_holds() -> None:
    """A form alone is met before what is in it is right; JSON can be refuted all the same, and plain text cannot."""
    of_task = AnswerCheck(messages=MESSAGES, task=SORT, answer_format=None)
    of_json = AnswerCheck(messages=MESSAGES, task=None, answer_format=JsonObject())
    of_form = AnswerCheck(messages=MESSAGES, task=None, answer_format=None, verifiers=(Pattern("[0-9]"),))
    assert (of_task.accepts_drafts, of_task.is_looked_at) == (True, True)
    assert (of_json.accepts_drafts, of_json.is_looked_at) == (False, True)
    assert (of_form.accepts_drafts, of_form.is_looked_at) == (False, False)
