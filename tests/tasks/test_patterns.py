"""Behaviour of `unmask.tasks.patterns`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tasks.verified import judged
from unmask.tasks.failure import FailureKind
from unmask.tasks.patterns import InvalidPatternError, Pattern


@pytest.mark.parametrize(
    ("pattern", "text", "passes"),
    [
        (r"\d{3}", "042", True),
        (r"\d{3}", " 042\n", True),
        (r"\d{3}", "0424", False),
        (r"a|bc", "bc", True),
        (r"a|bc", "abc", False),
        (r"가+", "가가", True),
        (r"[^\n]*", "one\ntwo", False),
        (r"", "", True),
    ],
)
def test_whole_answer_has_to_match(pattern: str, text: str, *, passes: bool) -> None:
    """Alternatives are taken together, and blanks around the answer do not count."""
    assert judged(Pattern(pattern), text) is (None if passes else FailureKind.FORMAT)


@pytest.mark.parametrize("pattern", ["(?=a)", r"(a)\1", "a)|(b", "(", "a{1000}{1000}"])
def test_patterns_that_take_more_than_linear_time_are_refused(pattern: str) -> None:
    """Look-around, back-references, what would grow too large, and what is no pattern."""
    with pytest.raises(InvalidPatternError, match="is no pattern that is matched here"):
        Pattern(pattern)


def test_no_text_makes_a_pattern_slow() -> None:
    """A pattern that a backtracking engine would follow for ages ends at once."""
    assert judged(Pattern("(a+)+b"), "a" * 100_000) is FailureKind.FORMAT


@given(st.text(max_size=40))
def test_any_text_is_judged(text: str) -> None:
    """Never an error."""
    assert judged(Pattern("(?s).*"), text) is None
