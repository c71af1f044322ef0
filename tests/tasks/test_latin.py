"""Latin squares: drawing, reading, judging completions."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tasks.drawn import drawn
from unmask.tasks.item import Split
from unmask.tasks.latin import BLANK, PHRASINGS, SIZES, Latin, Square, draw_square, judge, read_square
from unmask.types import Message, Role

TASK = Latin()
GIVENS = ("1___", "_1__", "__1_", "___1")
ANSWER = "1234\n4123\n3412\n2341"


def squares(size: int) -> st.SearchStrategy[Square]:
    """Draw full squares."""
    return st.integers(0, 10_000).map(lambda seed: draw_square(Random(seed), size))


@given(square=st.sampled_from(SIZES).flatmap(squares))
def test_drawn_squares_are_latin(square: Square) -> None:
    """Every row and column of a drawn square holds every symbol once."""
    size = len(square)
    symbols = {str(number + 1) for number in range(size)}
    assert all(set(row) == symbols and len(row) == size for row in square)
    assert all(set(column) == symbols for column in zip(*square, strict=True))
    assert judge((BLANK * size,) * size, "\n".join(square)).passed


def test_any_completion_passes() -> None:
    """A completion other than the reference is as right."""
    messages = (Message(role=Role.USER, content="complete\n" + "\n".join(GIVENS)),)
    for text in (ANSWER, "1324\n4132\n2413\n3241"):
        assert TASK.verify(messages, text).passed


def test_the_checker_accepts_other_completions() -> None:
    """What the checker passes is every completion, not only the one the item was made from."""
    items = drawn("latin", Split.TRAIN, 200)
    other = 0
    for item in items:
        givens = read_square(item.messages[0].content)
        assert givens is not None
        swapped = item.answer.translate(str.maketrans("12", "21"))
        fits = judge(givens, swapped).passed
        assert TASK.check(item, swapped).passed is fits
        other += fits
    assert other > 0


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1234\n4123\n3412", "a row is not a permutation of 1 to 4"),
        (ANSWER + "\n1234", "a row is not a permutation of 1 to 4"),
        (ANSWER.replace("4", "5"), "a row is not a permutation of 1 to 4"),
        (ANSWER.replace("\n", ""), "a row is not a permutation of 1 to 4"),
        (ANSWER.replace("\n", "\n\n"), "a row is not a permutation of 1 to 4"),
        (ANSWER.replace("4", "_"), "a row is not a permutation of 1 to 4"),
        (ANSWER.replace("1234", "1 2 3 4"), "a row is not a permutation of 1 to 4"),
        ("1234\n1234\n3412\n2341", "a column is not a permutation of 1 to 4"),
        ("2341\n1234\n4123\n3412", "a given cell was changed"),
    ],
)
def test_corrupted_squares_fail(text: str, reason: str) -> None:
    """Each kind of damage is refused for what it is."""
    assert judge(GIVENS, text).reason == reason


@given(square=squares(6), hidden=st.sets(st.integers(0, 35), min_size=1))
def test_a_square_passes_whatever_is_hidden_of_it(square: Square, hidden: set[int]) -> None:
    """A full square completes every square that is left of it."""
    givens = tuple(
        "".join(BLANK if row * 6 + column in hidden else square[row][column] for column in range(6)) for row in range(6)
    )
    assert read_square("fill the square\n" + "\n".join(givens)) == givens
    assert judge(givens, "\n".join(square)).passed


@pytest.mark.parametrize(
    "prompt",
    ["", "fill", "fill\n1234", "fill\n12\n21", "fill\n1___\n_1__\n__1_", "fill\n" + "123456\n" * 5, "1234\n" * 5],
)
def test_other_grids_are_not_covered(prompt: str) -> None:
    """Only whole squares of four or six are read."""
    assert read_square(prompt) is None
    assert TASK.verify((Message(role=Role.USER, content=prompt),), ANSWER).reason == "no square found in the request"


def test_difficulty_counts_size_and_blanks() -> None:
    """Both axes can be read off the prompt."""
    for item in drawn("latin", Split.TRAIN, 200):
        givens = read_square(item.messages[0].content)
        assert givens is not None
        assert len(givens) == item.difficulty["size"]
        assert "".join(givens).count(BLANK) == item.difficulty["blanks"]


def test_held_out_phrasings_are_for_the_test_split_only() -> None:
    """The last two wordings are asked in the test split and nowhere else."""
    held_out = {phrasing.split("\n", maxsplit=1)[0] for phrasing in PHRASINGS[-2:]}
    for split in Split:
        asked = {item.messages[0].content.split("\n")[0] for item in drawn("latin", split, 200)}
        assert bool(asked & held_out) == (split is Split.TEST)
