"""Behaviour of `unmask.tasks.domain`."""

from random import Random

import pytest

from unmask.tasks.domain import recognise
from unmask.tasks.item import Split
from unmask.tasks.registry import all_tasks
from unmask.types import Message, Role


def of_user(prompt: str, system: str | None = None) -> tuple[Message, ...]:
    """Return a chat of one prompt."""
    head = () if system is None else (Message(role=Role.SYSTEM, content=system),)
    return (*head, Message(role=Role.USER, content=prompt))


@pytest.mark.parametrize("name", all_tasks())
@pytest.mark.parametrize("split", Split)
def test_generated_prompts_are_recognised(name: str, split: Split) -> None:
    """Every prompt a generator makes is recognised as its task type, whatever the split."""
    rng = Random(7)
    items = [all_tasks()[name].generate(rng, split) for _ in range(12)]

    assert {recognise(item.messages) for item in items} == {name}


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        "hello",
        "안녕하세요",
        "what is the weather on 12 + 30?",
        "مرحبا 12 + 30",
        "call me at 12 30 45",
        "sort 1 2",
        "sort " + " ".join("1" * 13),
        "add 1 + 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9",
        "add 1000 + 2",
        "fill the square\n12\n21",
        'what is {"a": 1}',
        "Kaloren home Miven",
        "Kaloren home Miven\nWhat is the mentor?",
    ],
)
def test_other_prompts_are_not(prompt: str) -> None:
    """Near misses and everything else belong to no task type."""
    assert recognise(of_user(prompt)) is None


def test_system_message_is_dialogues() -> None:
    """No other task type has a system message, and a character needs facts."""
    assert recognise(of_user("add 1 + 2", "Be brief.")) is None
    assert recognise(of_user("Who are you?", "You are Kaloren.")) is None
    assert recognise(of_user("Who are you?", "Kaloren home Miven\nYou are Kaloren.")) == "dialogue"


@pytest.mark.parametrize("prompt", ["{" * 3000, "1 " * 3000, "1+" * 3000, "a home b\n" * 500 + "?", '{"a":' * 500])
def test_long_odd_prompts_are_read_quickly(prompt: str) -> None:
    """A prompt that a reader might stumble over is simply not recognised."""
    assert recognise(of_user(prompt)) is None
