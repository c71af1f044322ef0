"""Behaviour of `unmask.tasks.facts`."""

import pytest

from tests.tasks.verified import faulty, judged
from unmask.tasks.facts import Facts
from unmask.tasks.failure import FailureKind

CARDS = "# Kaloren\n- home Miven\n- not rival Tulven\n\n# Tulven\n- ally Miven\n\nWhere is home?"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("Kaloren home Miven.", None),
        ("We know that Kaloren home Dorlin, surely.", "Kaloren home Dorlin"),
        ("Kaloren rival Tulven", "Kaloren rival Tulven"),
        ("Kaloren not rival Tulven", None),
        ("Kaloren not home Miven", "Kaloren not home Miven"),
        ("Tulven ally Miven, Kaloren ally Miven", "Kaloren ally Miven"),
        ("Somebody home Nowhere", None),
        ("Kaloren home", None),
        ("", None),
    ],
)
def test_claims_are_those_of_the_cards(text: str, fault: str | None) -> None:
    """Of subjects that the cards know, denied ones included."""
    assert faulty(Facts(), text, CARDS) == fault
    assert judged(Facts(), text, CARDS) is (None if fault is None else FailureKind.FACT)


def test_texts_that_have_to_be_there_and_must_not() -> None:
    """As words of their own, whatever their case."""
    facts = Facts(required=("Miven",), forbidden=("in a war",))

    assert judged(facts, "it is MIVEN", CARDS) is None
    assert judged(facts, "it is Mivenia", CARDS) is FailureKind.FACT
    assert faulty(facts, "Miven was In a war then", CARDS) == "In a war"
