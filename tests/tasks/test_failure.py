"""Judges say in which of three ways an answer falls short."""

import json
from collections import Counter
from itertools import pairwise

import pytest

from tests.tasks.drawn import ODD_TEXTS, drawn
from unmask.tasks.failure import FailureKind
from unmask.tasks.item import Item, Split
from unmask.tasks.registry import all_tasks
from unmask.types import Message, Role

TASKS = all_tasks()
FORMAT, LOGIC, FACT = FailureKind.FORMAT, FailureKind.LOGIC, FailureKind.FACT


def ask(prompt: str) -> tuple[Message, ...]:
    """Return a request of one user message."""
    return (Message(role=Role.USER, content=prompt),)


@pytest.mark.parametrize(
    ("task", "prompt", "text", "failure"),
    [
        ("lookup", "Kiri ally Miven\nMiven home Gise\nFollow ally then home from Kiri.", "Gise", FORMAT),
        ("lookup", "Kiri ally Miven\nMiven home Gise\nFollow ally then home from Kiri.", "ally Miven: Miven", LOGIC),
        ("lookup", "Kiri ally Miven\nMiven home Gise\nFollow ally from Kiri.", "ally Miven: Gise", LOGIC),
        ("lookup", "Kiri ally Miven\nMiven home Gise\nFollow ally from Kiri.", "ally Gise: Gise", FACT),
        ("arithmetic", "add 12 + 30", "42", FORMAT),
        ("arithmetic", "add 12 + 30", "012+030=0043: 43", LOGIC),
        ("arithmetic", "add 12 + 30", "012+031=0043: 43", FACT),
        ("sort", "sort 3, 1, 2", "1 2 3", FORMAT),
        ("sort", "sort 3, 1, 2", "1, 3, 2", LOGIC),
        ("sort", "sort 3, 1, 2", "1, 2, 4", FACT),
        ("latin", "fill\n1___\n____\n____\n____", "1234", FORMAT),
        ("latin", "fill\n1___\n____\n____\n____", "1234\n1234\n1234\n1234", LOGIC),
        ("latin", "fill\n2___\n____\n____\n____", "1234\n2341\n3412\n4123", FACT),
        ("extract", 'extract {"age":int} from: Bo is 7.', "{", FORMAT),
        ("extract", 'extract {"age":int} from: Bo is 7.', '{"age":"7"}', FORMAT),
        ("extract", 'extract {"age":int} from: Bo is 7.', '{"age":8}', FACT),
    ],
)
def test_verifiers_name_the_kind(task: str, prompt: str, text: str, failure: FailureKind) -> None:
    """Form, reasoning and facts are told apart from the request alone."""
    assert TASKS[task].verify(ask(prompt), text).failure is failure


def test_dialogue_names_the_kind() -> None:
    """Broken sentences, what was not asked for, and what the card does not hold."""
    system = Message(role=Role.SYSTEM, content="Kaloren persona sly\nKaloren rival Tulven\nYou are Kaloren.")
    request = (system, *ask("Who is your rival?"))
    kinds = [TASKS["dialogue"].verify(request, text).failure for text in ("rival the", "My rival is Miven.", "")]

    assert kinds == [FORMAT, FACT, FORMAT]


def test_a_value_of_the_text_in_the_wrong_field_is_no_factual_error() -> None:
    """The text holds it, the choice of it does not follow."""
    item = next(
        item
        for item in drawn("extract", Split.TUNE, 200)
        if len({value for value in json.loads(item.answer).values() if isinstance(value, int) and value > 1}) > 1
    )
    answer = json.loads(item.answer)
    first, second = [key for key, value in answer.items() if isinstance(value, int) and value > 1][:2]
    answer[first], answer[second] = answer[second], answer[first]

    assert TASKS["extract"].check(item, json.dumps(answer)).failure is LOGIC


@pytest.mark.parametrize("task", TASKS)
def test_every_failed_check_has_a_kind(task: str) -> None:
    """Whatever was answered, a checker files it; what passed has none."""
    items = drawn(task, Split.TUNE, 200)
    texts = [(item, other.answer) for item, other in pairwise(items)] + [(items[0], text) for text in ODD_TEXTS]
    results = [TASKS[task].check(item, text) for item, text in texts]

    assert all(result.passed == (result.failure is None) for result in results)
    assert Counter(result.failure for result in results)[FORMAT] >= len(ODD_TEXTS) // 2


@pytest.mark.parametrize("task", TASKS)
def test_a_fault_of_the_request_is_no_failure_of_the_answer(task: str) -> None:
    """Where the request holds nothing to verify against, no kind is blamed on the text."""
    assert TASKS[task].verify(ask("hello there"), answer_of(task).answer).failure is None


def answer_of(task: str) -> Item:
    """Return an item, for a well-formed answer."""
    return drawn(task, Split.TUNE, 1)[0]
