"""``unmask examples``."""

import argparse
from random import Random

from rich.table import Table
from rich.text import Text

from unmask.cli.exits import Exit
from unmask.cli.prompts import find_task
from unmask.cli.tools import Tools
from unmask.tasks.item import Item, Split, Task
from unmask.tasks.registry import all_tasks
from unmask.tasks.spec import load_spec
from unmask.types import Role

FEWEST_DRAWS = 40
MOST_DRAWS = 1000
"""Items drawn per task type: until every difficulty was met, within these bounds."""
CHOICES = 4
"""Items of one difficulty of which the shortest is shown: fits a screen, without always being the most trivial."""
NOTE = "The demonstration model knows these task types and nothing else; other prompts are outside its domain."


def run_examples(args: argparse.Namespace, tools: Tools) -> int:
    """Show a short prompt for every difficulty; none of them was trained on."""
    tasks = [find_task(args.task)] if args.task else list(all_tasks().values())
    items = [item for task in tasks for item in short_items(task, args.seed)]
    if args.json:
        tools.write_json({"note": NOTE, "seed": args.seed, "examples": [_record(item) for item in items]})
        return Exit.OK
    tools.out.print(_table(items))
    tools.say(f"{NOTE} Ask one with: unmask generate PROMPT, or unmask generate --task TYPE")
    return Exit.OK


def short_items(task: Task, seed: int) -> list[Item]:
    """Return, for each value of the task type's first difficulty axis, the shortest of a few drawn items."""
    rng = Random(seed)
    drawn: dict[int, list[Item]] = {}
    for count in range(MOST_DRAWS):
        item = task.generate(rng, Split.TEST)
        axis, value = item.difficulty.axes[0]
        drawn.setdefault(value, []).append(item)
        if count >= FEWEST_DRAWS and len(drawn) == len(load_spec().axis(task.name, axis).values):
            break
    return [min(drawn[value][:CHOICES], key=_size) for value in sorted(drawn)]


def _size(item: Item) -> int:
    return sum(len(message.content) for message in item.messages)


def _record(item: Item) -> dict[str, object]:
    return {
        "task": item.task,
        "difficulty": dict(item.difficulty.axes),
        "messages": [{"role": message.role.value, "content": message.content} for message in item.messages],
        "answer": item.answer,
    }


def _table(items: list[Item]) -> Table:
    table = Table(show_lines=True)
    for name in ("task", "difficulty", "prompt"):
        table.add_column(name, overflow="fold")
    for item in items:
        table.add_row(item.task, str(item.difficulty), _prompt(item))
    return table


def _prompt(item: Item) -> Text:
    """Write a prompt; roles are told only where there is more than the user's."""
    if len(item.messages) == 1:
        return Text(item.messages[0].content)
    text = Text()
    for message in item.messages:
        style = "dim" if message.role is Role.SYSTEM else ""
        text.append(f"{message.role}: {message.content}\n", style=style)
    text.rstrip()
    return text
