"""Behaviour of `unmask.tasks.length`."""

import pytest

from tests.tasks.verified import faulty, judged
from unmask.tasks.failure import FailureKind
from unmask.tasks.length import Length, LengthUnit


@pytest.mark.parametrize(
    ("unit", "text", "passes"),
    [
        (LengthUnit.CHARACTERS, " abc ", True),
        (LengthUnit.CHARACTERS, "abcd", False),
        (LengthUnit.CHARACTERS, "a", False),
        (LengthUnit.CHARACTERS, "가나다", True),
        (LengthUnit.WORDS, "one two  three", True),
        (LengthUnit.WORDS, "one", False),
        (LengthUnit.LINES, "one\n\ntwo\nthree\n", True),
        (LengthUnit.LINES, "1\n2\n3\n4", False),
    ],
)
def test_so_many_are_counted(unit: LengthUnit, text: str, *, passes: bool) -> None:
    """Between two and three."""
    assert judged(Length(unit=unit, minimum=2, maximum=3), text) is (None if passes else FailureKind.FORMAT)


def test_fault_is_what_is_too_much() -> None:
    """The beginning may stay; what is too short has no part that could be blamed."""
    assert faulty(Length(maximum=4), "abcdefgh") == "efgh"
    assert faulty(Length(minimum=9), "abcd") is None
