"""What the documents show is real: examples pass, cards read back."""

import re
from pathlib import Path
from random import Random

import pytest

from unmask.cards import SLOTS, parse_facts, render_cards
from unmask.tasks.dialogue_check import verify_answer
from unmask.tasks.item import Split
from unmask.tasks.registry import all_tasks
from unmask.types import Message, Role

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"(System message|User message|Answer):\n\n```text\n(.*?)\n```", re.DOTALL)
ROLES = {"System message": Role.SYSTEM, "User message": Role.USER, "Answer": Role.ASSISTANT}


def page(name: str) -> str:
    """Return a document."""
    return (DOCS / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("task", all_tasks())
def test_every_task_has_an_example_that_passes(task: str) -> None:
    """The example answer of each task type passes its verifier, and another task's does not."""
    section = page("tasks.md").split(f"\n## {task}\n")[1].split("\n## ")[0]
    *request, answer = (Message(role=ROLES[head], content=body) for head, body in BLOCK.findall(section))
    assert all_tasks()[task].verify(tuple(request), answer.content).passed
    assert not all_tasks()[task].verify(tuple(request), "12, 30").passed


@pytest.mark.parametrize("task", all_tasks())
def test_every_axis_is_listed(task: str) -> None:
    """The table names the axes that items carry."""
    (row,) = re.findall(rf"^\| `{task}` \|.*\| (`.*) \|$", page("tasks.md"), re.MULTILINE)
    item = all_tasks()[task].generate(Random(1), Split.TRAIN)
    assert re.findall(r"`(\w+)`", row) == [axis for axis, _ in item.difficulty.axes]


def test_both_renderings_of_the_example_say_the_same() -> None:
    """The example card and the example triples hold the same facts."""
    cards, triples, record, answer = re.findall(r"```text\n(.*?)\n```", page("cards.md"), re.DOTALL)
    assert set(parse_facts(cards)) == set(parse_facts(triples))
    assert render_cards(parse_facts(cards)) == cards
    system = Message(role=Role.SYSTEM, content=f"{record}\n- persona sly\nYou are Kaloren.")
    asked = Message(role=Role.USER, content="Is Tulven your rival?")
    assert verify_answer((system, asked), answer).passed


def test_every_slot_is_documented() -> None:
    """The table of slots is complete."""
    table = page("cards.md").split("## Slots")[1].split("##")[0]
    assert set(re.findall(r"`(\w+)`", table)) - {"MAX_FACTS"} == set(SLOTS)
