"""What `generate` asks: the caller's prompt, or an example of a task type."""

import argparse
import re
from dataclasses import dataclass
from random import Random

from unmask.cli.exits import UsageError
from unmask.tasks.domain import recognise
from unmask.tasks.item import CheckResult, Item, Split, Task
from unmask.tasks.registry import all_tasks
from unmask.types import Message, Role

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """Messages, and how their answer is judged: by the truth where it is known, else from the request alone."""

    messages: tuple[Message, ...]
    task: Task | None
    item: Item | None

    @property
    def judge(self) -> str:
        """Who judges: a checker or a verifier."""
        return "verifier" if self.item is None else "checker"

    def check(self, text: str) -> CheckResult | None:
        """Judge an answer, or return nothing when no task type was named."""
        if self.task is None:
            return None
        return self.task.verify(self.messages, text) if self.item is None else self.task.check(self.item, text)

    @property
    def in_domain(self) -> bool:
        """Whether the demonstration model knows this kind of prompt."""
        return recognise(self.messages) is not None


def prompt_from(args: argparse.Namespace) -> Prompt:
    """Read the prompt of a command line.

    Raises:
        UsageError: there is none, the task type is unknown, or a system message would change an example.
    """
    task = find_task(args.task) if args.task else None
    if args.prompt is not None:
        if not args.prompt:
            raise UsageError("PROMPT is empty; ask something, such as: add 12 + 30")
        system = () if args.system is None else (_message(Role.SYSTEM, args.system),)
        return Prompt(messages=(*system, _message(Role.USER, args.prompt)), task=task, item=None)
    if task is None:
        raise UsageError("there is nothing to ask; give a PROMPT, or --task for an example")
    if args.system is not None:
        raise UsageError("--system goes with a PROMPT; an example of --task brings its own")
    item = task.generate(Random(args.seed), Split.TEST)
    return Prompt(messages=item.messages, task=task, item=item)


def find_task(name: str) -> Task:
    """Return the task type of a name."""
    tasks = all_tasks()
    if name not in tasks:
        raise UsageError(f"--task is {name!r}, allowed: {', '.join(tasks)}")
    return tasks[name]


def _message(role: Role, text: str) -> Message:
    """Make a message; bytes of the command line that are no UTF-8 reach Python as surrogates, which no JSON holds."""
    return Message(role=role, content=_SURROGATE.sub("\ufffd", text))
