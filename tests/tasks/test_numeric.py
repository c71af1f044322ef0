"""Behaviour of `unmask.tasks.numeric`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tasks.verified import faulty, judged
from unmask.tasks.failure import FailureKind
from unmask.tasks.numeric import Numeric

FORMAT, LOGIC = FailureKind.FORMAT, FailureKind.LOGIC


@pytest.mark.parametrize(
    ("text", "failure"),
    [
        ("7", None),
        ("first 99, then 7.5.", None),
        ("-1", LOGIC),
        ("it is 10.01", LOGIC),
        ("1e1", None),
        ("1e2", LOGIC),
        ("none", FORMAT),
        ("", FORMAT),
        ("9" * 65, FORMAT),
    ],
)
def test_last_number_lies_in_the_range(text: str, failure: FailureKind | None) -> None:
    """Both ends belong to it."""
    assert judged(Numeric(minimum=0, maximum=10), text) is failure


def test_fault_is_the_number() -> None:
    """The rest of the answer need not be touched."""
    assert faulty(Numeric(maximum=10), "from 3 we get 12 .") == "12"


def test_whole_and_alone() -> None:
    """Each as far as it is asked for."""
    assert judged(Numeric(is_whole=True), "2.0") is None
    assert judged(Numeric(is_whole=True), "2.5") is LOGIC
    assert judged(Numeric(is_alone=True), " 2.5 ") is None
    assert judged(Numeric(is_alone=True), "about 2") is FORMAT


@given(st.text(max_size=60), st.floats(allow_nan=False, allow_infinity=False))
def test_any_text_is_judged(text: str, bound: float) -> None:
    """Never an error."""
    judged(Numeric(minimum=bound, is_whole=True), text)
