"""Behaviour of ``unmask examples``."""

import json
from typing import Any

import pytest

from tests.cli.terminal import type_in
from unmask.tasks.domain import recognise
from unmask.tasks.registry import all_tasks
from unmask.types import Message, Role


def examples(*argv: str) -> list[dict[str, Any]]:
    """Return what ``--json`` lists."""
    ended = type_in("examples", "--json", *argv)
    assert ended.code == 0
    return list(json.loads(ended.out)["examples"])


def test_every_task_type_and_difficulty_has_one() -> None:
    """Each task type shows every value of its first axis once."""
    levels = [(entry["task"], next(iter(entry["difficulty"].values()))) for entry in examples()]

    assert list(dict.fromkeys(task for task, _ in levels)) == list(all_tasks())
    assert len(set(levels)) == len(levels)
    assert [value for task, value in levels if task == "arithmetic"] == [2, 3, 4, 5, 6, 7, 8]
    assert [value for task, value in levels if task == "sort"] == list(range(3, 13))


def test_examples_are_in_the_domain() -> None:
    """What is listed is what `generate` does not warn of."""
    for entry in examples():
        messages = tuple(Message(role=Role(one["role"]), content=one["content"]) for one in entry["messages"])

        assert recognise(messages) == entry["task"]


def test_seed_draws_others() -> None:
    """The same seed lists the same, another one others."""
    first, again, other = (examples("--task", "sort", "--seed", seed) for seed in ("1", "1", "2"))

    assert first == again != other


def test_table_shows_prompts_and_the_note() -> None:
    """For people there is a table, and what is outside of it is said to be outside the domain."""
    ended = type_in("examples", "--task", "latin")

    assert ended.code == 0
    assert "size=4" in ended.out
    assert "size=6" in ended.out
    assert "outside its domain" in ended.err


@pytest.mark.parametrize("argv", [("--task", "poem"), ("--seed", "x"), ("--seed", "9" * 20, "--json")])
def test_bad_option_is_2(argv: tuple[str, ...]) -> None:
    """An unknown task type, or a seed that is none, is wrong usage."""
    assert type_in("examples", *argv).code == 2
