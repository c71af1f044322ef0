"""Behaviour of `unmask.tasks.constraint`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tasks.verified import faulty, judged
from unmask.tasks.constraint import Constraint, ItemOrder
from unmask.tasks.failure import FailureKind

FORMAT, LOGIC, FACT = FailureKind.FORMAT, FailureKind.LOGIC, FailureKind.FACT


@pytest.mark.parametrize(
    ("text", "failure"),
    [
        ("1, 2, 2", None),
        ("2,1 , 2", None),
        ("1, 2", FACT),
        ("1, 1, 2", FACT),
        ("1, 2, 2, 3", FACT),
        ("1, , 2", FORMAT),
        ("", FORMAT),
    ],
)
def test_same_items(text: str, failure: FailureKind | None) -> None:
    """Each as often, in whatever order."""
    assert judged(Constraint(same_items=("2", "1", "2")), text) is failure


@pytest.mark.parametrize(
    ("order", "text", "fault"),
    [
        (ItemOrder.ASCENDING, "9, 10, 10", None),
        (ItemOrder.ASCENDING, "9, 10, 8", "8"),
        (ItemOrder.ASCENDING, "b, 10, 9", "10"),
        (ItemOrder.DESCENDING, "10, 9, 9.5", "9.5"),
        (ItemOrder.DESCENDING, "10, 9.5, 9", None),
        (ItemOrder.AS_GIVEN, "2, 1, 3", "1"),
        (ItemOrder.ANY, "3, 1, 2", None),
    ],
)
def test_order(order: ItemOrder, text: str, fault: str | None) -> None:
    """Numbers by their value where all are numbers; the first item out of place is at fault."""
    given = tuple(sorted(text.split(", "), reverse=order is ItemOrder.AS_GIVEN and text[0] != "2"))
    items = ("2", "3", "1") if order is ItemOrder.AS_GIVEN else given
    constraint = Constraint(same_items=items, order=order)

    assert faulty(constraint, text) == fault
    assert judged(constraint, text) is (None if fault is None else LOGIC)


def test_count_and_distinctness() -> None:
    """As far as they are asked for."""
    assert judged(Constraint(minimum=2, maximum=3), "a") is LOGIC
    assert judged(Constraint(minimum=2, maximum=3), "a,b,c,d") is LOGIC
    assert faulty(Constraint(is_distinct=True), "a, b, a") == "a"
    assert judged(Constraint(separator=" > "), "a > b") is None


@given(st.text(max_size=60), st.sampled_from(ItemOrder), st.sampled_from([",", "||", "\n"]))
def test_any_text_is_judged(text: str, order: ItemOrder, separator: str) -> None:
    """Never an error, and what is at fault is a part of the text."""
    fault = faulty(Constraint(separator=separator, order=order, same_items=("1", "2"), is_distinct=True), text)
    assert fault is None or fault in text


@given(st.lists(st.integers(), min_size=1, max_size=12))
def test_sorted_items_pass(numbers: list[int]) -> None:
    """Whatever the numbers."""
    items = tuple(map(str, numbers))
    text = ", ".join(map(str, sorted(numbers)))
    assert judged(Constraint(same_items=items, order=ItemOrder.ASCENDING), text) is None
