"""The task types by name."""

from unmask.tasks.arithmetic import Arithmetic
from unmask.tasks.dialogue import Dialogue
from unmask.tasks.extract import Extract
from unmask.tasks.item import Task
from unmask.tasks.latin import Latin
from unmask.tasks.lookup import Lookup
from unmask.tasks.sorting import Sort


def all_tasks() -> dict[str, Task]:
    """Return every task type by name, in the order of the tables."""
    tasks: tuple[Task, ...] = (Lookup(), Dialogue(), Extract(), Arithmetic(), Sort(), Latin())
    return {task.name: task for task in tasks}
