"""Items, their splits, and what verifiers read of a request."""

from collections import Counter
from random import Random

import pytest

from unmask.tasks.draw import draw_in_split
from unmask.tasks.item import Difficulty, Item, Split, failed, question_of, split_of, split_of_digest
from unmask.tasks.phrasing import draw_phrasing
from unmask.types import Message, Role


def make_item(canonical: str) -> Item:
    """Return an item that is nothing but its canonical form."""
    return Item(task="none", messages=(), answer="", difficulty=Difficulty(axes=()), canonical=canonical)


def test_splits_are_seventy_ten_ten_ten() -> None:
    """Hashes of canonical forms fall into the splits in the documented shares."""
    n = 20_000
    counts = Counter(split_of(f"form {number}") for number in range(n))
    for split in Split:
        share = 0.7 if split is Split.TRAIN else 0.1
        assert abs(counts[split] / n - share) < 4.5 * (share * (1 - share) / n) ** 0.5


def test_digest_tells_the_split() -> None:
    """A record with an item's digest needs nothing else to be put into its split."""
    for number in range(100):
        item = make_item(f"form {number}")
        assert split_of_digest(item.digest) is split_of(item.canonical)


def test_a_form_never_changes_its_split() -> None:
    """The split is a function of the text, the same in every process and release."""
    splits = {"a": Split.TRAIN, "g": Split.TUNE, "i": Split.CALIBRATE, "e": Split.TEST, "가": Split.TUNE}
    assert {text: split_of(text) for text in splits} == splits


def test_drawing_goes_on_until_the_split_fits() -> None:
    """Items of another split are refused and drawn again."""
    numbers = iter(range(1000))
    item = draw_in_split(Random(0), Split.TEST, lambda _rng, _split: make_item(str(next(numbers))))
    assert split_of(item.canonical) is Split.TEST
    assert all(split_of(str(number)) is not Split.TEST for number in range(int(item.canonical)))


def test_difficulty_is_read_by_axis_and_as_text() -> None:
    """An axis is read by name, an unknown one is an error, and tables show pairs."""
    difficulty = Difficulty(axes=(("hops", 2), ("facts", 8)))
    assert difficulty["facts"] == 8
    assert str(difficulty) == "hops=2 facts=8"
    with pytest.raises(KeyError):
        difficulty["depth"]


def test_digest_names_the_canonical_form() -> None:
    """Equal forms have equal digests of sixteen digits, other forms others."""
    assert make_item("a").digest == make_item("a").digest != make_item("b").digest
    assert len(make_item("a").digest) == 16


def test_failures_carry_a_reason() -> None:
    """A failed result says why."""
    assert failed("too short").reason == "too short"
    assert not failed("too short").passed


def test_the_question_is_the_last_user_message() -> None:
    """System and assistant messages are no question, and neither is nothing."""
    messages = (
        Message(role=Role.USER, content="first"),
        Message(role=Role.USER, content="second"),
        Message(role=Role.ASSISTANT, content="answer"),
    )
    assert question_of(messages) == "second"
    assert question_of(()) == question_of(messages[2:]) == ""


@pytest.mark.parametrize("size", [1, 4, 8, 10])
def test_the_last_quarter_of_a_pool_is_for_the_test_split(size: int) -> None:
    """The test split draws from the whole pool, every other split from its first three quarters only."""
    pool = [str(number) for number in range(size)]
    for split in Split:
        seen = {draw_phrasing(Random(seed), split, pool) for seed in range(400)}
        assert seen == set(pool if split is Split.TEST else pool[: size - size // 4])
