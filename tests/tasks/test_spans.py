"""Task types' verifiers say where an answer is at fault, as far as they can."""

import pytest

from tests.tasks.verified import faulty
from unmask.tasks.item import CheckResult
from unmask.tasks.registry import all_tasks
from unmask.types import Message

TASKS = all_tasks()


class OfTask:
    """A task type's verifier as one of a request."""

    def __init__(self, name: str) -> None:
        self._task = TASKS[name]

    def judge(self, messages: tuple[Message, ...], text: str) -> CheckResult:
        """Ask it."""
        return self._task.verify(messages, text)


@pytest.mark.parametrize(
    ("task", "prompt", "text", "fault"),
    [
        ("sort", "sort 9 , 3 , 7", "3, 9, 7", "7"),
        ("sort", "sort 9 , 3 , 7", "3, 7, 8", None),
        ("arithmetic", "add 12 + 30", " 012+030=0043: 43", "3: 43"),
        ("extract", 'Fill {"age":int} from: I am 3.', '{"age":3', "3"),
    ],
)
def test_fault_is_a_part_of_the_answer(task: str, prompt: str, text: str, fault: str | None) -> None:
    """The number out of place, the first character that does not follow, or where JSON ceases."""
    assert faulty(OfTask(task), text, prompt) == fault
