"""Sorting: reading lists, and what is refused."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tasks.drawn import drawn
from unmask.tasks.item import Split
from unmask.tasks.sorting import LARGEST, PHRASINGS, SEPARATORS, Sort, read_list
from unmask.types import Message, Role

TASK = Sort()
REQUEST = (Message(role=Role.USER, content="sort the list 30, 4, 12, 4"),)

numbers = st.lists(st.integers(0, LARGEST), min_size=2, max_size=12)


@given(numbers=numbers, phrasing=st.sampled_from(PHRASINGS), separator=st.sampled_from(SEPARATORS))
def test_lists_are_read_back_from_every_phrasing(numbers: list[int], phrasing: str, separator: str) -> None:
    """Whatever the wording and the separator, the verifier reads the items that were given."""
    prompt = phrasing.format(items=separator.join(map(str, numbers)))
    assert read_list(prompt) == numbers
    messages = (Message(role=Role.USER, content=prompt),)
    assert TASK.verify(messages, ", ".join(map(str, sorted(numbers)))).passed


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("4, 4, 30, 12", "not in ascending order"),
        ("30, 12, 4, 4", "not in ascending order"),
        ("4, 12, 30", "not the items of the request"),
        ("4, 4, 4, 12, 30", "not the items of the request"),
        ("4, 4, 12, 31", "not the items of the request"),
        ("4,4,12,30", "not a comma-separated list of numbers"),
        ("4 4 12 30", "not a comma-separated list of numbers"),
        ("4, 4, 12, 30,", "not a comma-separated list of numbers"),
        ("4, 4, 12, three", "not a comma-separated list of numbers"),
        ("4, 4, 12, ٣٠", "not a comma-separated list of numbers"),
        ("sorted: 4, 4, 12, 30", "not a comma-separated list of numbers"),
    ],
)
def test_corrupted_lists_fail(text: str, reason: str) -> None:
    """Each kind of damage is refused for what it is."""
    assert TASK.verify(REQUEST, text).reason == reason


def test_blanks_around_the_list_do_not_matter() -> None:
    """A right list passes with any white space around it, that of other scripts and old terminals included."""
    for blank in ("\n", " ", "\u3000", "\x1c"):
        assert TASK.verify(REQUEST, f"{blank}4, 4, 12, 30{blank}").passed


def test_the_checker_names_the_reference() -> None:
    """A wrong answer's reason holds the right one."""
    item = drawn("sort", Split.TRAIN, 200)[0]
    assert item.answer in TASK.check(item, "0").reason


@pytest.mark.parametrize(
    "prompt",
    ["sort 100, 5", "sort 5, 100, 7", "sort -3, 5", "sort 5, -3", "sort 1.5, 2", "sort ١٢, ٣", "sort 5", "sort", ""],
)
def test_other_lists_are_not_covered(prompt: str) -> None:
    """Part of a list with larger, negative or fractional numbers is never taken for the list."""
    assert read_list(prompt) is None
    assert not TASK.verify((Message(role=Role.USER, content=prompt),), "5").passed


def test_difficulty_is_the_length() -> None:
    """The axis can be read off the prompt."""
    for item in drawn("sort", Split.TRAIN, 200):
        assert len(read_list(item.messages[0].content) or ()) == item.difficulty["length"]


def test_held_out_phrasings_are_for_the_test_split_only() -> None:
    """The last two wordings are asked in the test split and nowhere else."""
    held_out = [re.compile(re.escape(phrasing).replace(r"\{items\}", r"[\d, ]+")) for phrasing in PHRASINGS[-2:]]
    for split in Split:
        prompts = [item.messages[0].content for item in drawn("sort", split, 200)]
        asked = any(pattern.fullmatch(prompt) for pattern in held_out for prompt in prompts)
        assert asked == (split is Split.TEST)
