"""What each kind of check calls right."""

import unicodedata
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmask.tasks.failure import FailureKind
from unmask.tasks.formats import JsonSchema
from unmask.tasks.patterns import Pattern
from unmask.tune.own.checks import Check, Contains, Exact, FitsSchema, Matches, Number, SameText, judge_all, normal

CITY = JsonSchema({"type": "object", "properties": {"도시": {"type": "string"}}, "required": ["도시"]})
NEAR = Number(value=Decimal(12500), tolerance=Decimal("0.5"))


@pytest.mark.parametrize(
    ("check", "right", "wrong"),
    [
        (Exact(alternatives=("서울", "Seoul")), (" 서울\n", unicodedata.normalize("NFD", "서울")), ("seoul", "서울.")),
        (SameText(alternatives=("서울 특별시", "Seoul")), ("SEOUL.", "“서울  특별시”", "Ｓeoul"), ("서울", "")),
        (Contains(texts=("3일", "refund")), ("Refunds take 3일.", "REFUND: 3일"), ("3일", "refund")),
        (Matches(pattern=Pattern(r"[가-힣]+\d")), ("답5", " 답5 "), ("답 5", "x답5")),
        (FitsSchema(form=CITY), ('{"도시": "부산"}',), ('{"city": "부산"}', "부산", '{"도시": 1}')),
        (NEAR, ("답은 12,500원", "12500.5", "1 + 2 = 1.25e4"), ("12,501", "12,50", "없음", "9" * 99)),
    ],
)
def test_kinds(check: Check, right: tuple[str, ...], wrong: tuple[str, ...]) -> None:
    """Right answers pass, others fail with a kind of failure and a reason."""
    for text in right:
        assert check.judge(text).passed, text
    for text in wrong:
        found = check.judge(text)
        assert not found.passed, text
        assert isinstance(found.failure, FailureKind)
        assert found.reason


def test_several_checks_all_have_to_pass() -> None:
    """The first that fails is told; an endless answer is looked at by none."""
    both = (Contains(texts=("7",)), Matches(pattern=Pattern(r"\d+")))

    assert judge_all(both, "7").passed
    assert judge_all(both, "x7").failure is FailureKind.FORMAT
    assert judge_all(both, "8").failure is FailureKind.LOGIC
    assert judge_all(both, "7" * 1_000_001).reason.startswith("longer")


@given(st.text(max_size=40))
@settings(max_examples=50)
def test_normal_text_stays_as_it_is(text: str) -> None:
    """What is normal is so however often it is made so, and nothing that any text says breaks a check."""
    assert normal(normal(text)) == normal(text)
    NEAR.judge(text)
    FitsSchema(form=CITY).judge(text)
