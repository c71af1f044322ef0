"""Sums: the written-out answer, what counts as a sum, what is refused."""

import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tasks.drawn import drawn
from unmask.tasks.arithmetic import MAX_TERMS, PHRASINGS, Arithmetic, read_terms, written_out
from unmask.tasks.item import Split
from unmask.types import Message, Role

TASK = Arithmetic()
REQUEST = (Message(role=Role.USER, content="please add 12 + 30 + 5"),)
ANSWER = "012+030=0042+005=0047: 47"

terms = st.lists(st.integers(0, 999), min_size=2, max_size=MAX_TERMS).map(tuple)


def test_the_answer_shows_every_running_total() -> None:
    """Terms are three digits wide, running totals four, and the plain result comes last."""
    assert written_out((12, 30, 5)) == ANSWER
    assert written_out((999,) * 8).endswith("=7992: 7992")
    assert TASK.verify(REQUEST, ANSWER).passed


@given(terms=terms, phrasing=st.sampled_from(PHRASINGS))
def test_terms_are_read_back_from_every_phrasing(terms: tuple[int, ...], phrasing: str) -> None:
    """Whatever the wording, the verifier reads the terms that were asked."""
    assert read_terms(phrasing.format(terms=" + ".join(map(str, terms)))) == terms


@given(terms=terms)
def test_totals_are_sums(terms: tuple[int, ...]) -> None:
    """The result is the sum of the terms, and so is the last running total."""
    answer = written_out(terms)
    assert int(answer.split(": ")[1]) == sum(terms)
    totals = [int(total) for total in re.findall(r"=(\d{4})", answer)]
    assert totals == [sum(terms[: count + 1]) for count in range(1, len(terms))]


@pytest.mark.parametrize(
    "text",
    [
        "012+030=0042+005=0047: 48",
        "012+030=0043+005=0048: 48",
        "012+031=0043+005=0048: 48",
        "030+012=0042+005=0047: 47",
        "012+030=0042: 42",
        "012+030=0042+005=0047",
        "12+30=42+5=47: 47",
        "47",
        "the answer is 012+030=0042+005=0047: 47",
    ],
)
def test_corrupted_sums_fail(text: str) -> None:
    """A wrong total, term, order, length or form is refused with a reason."""
    result = TASK.verify(REQUEST, text)
    assert not result.passed
    assert result.reason == "terms, totals and result do not agree"


def test_the_checker_names_the_reference() -> None:
    """A wrong answer's reason holds the right one; white space around a right one does not matter."""
    item = drawn("arithmetic", Split.TRAIN, 200)[0]
    assert item.answer in TASK.check(item, "0").reason
    assert TASK.check(item, f" {item.answer}\n").passed


@pytest.mark.parametrize(
    "prompt",
    [
        "add 1234 + 5",
        "add 5 + 1234",
        "add 1.5 + 2",
        "add 2 + 1.5",
        "add 12 - 5 + 3",
        "add 12 + 3 * 2",
        "what is (1 + 2) * 3?",
        "add -5 + 3",
        "add 1 + 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9",
        "add ١٢ + ٣",
        "add 5",
        "add",
    ],
)
def test_other_expressions_are_no_sums(prompt: str) -> None:
    """Part of a larger expression is never taken for the sum that was asked."""
    assert read_terms(prompt) is None
    assert not TASK.verify((Message(role=Role.USER, content=prompt),), "1").passed


def test_a_full_stop_ends_a_sum() -> None:
    """Punctuation behind the last term is not part of it."""
    assert read_terms("add 3 + 4.") == (3, 4)
    assert read_terms("what is 3+4?") == (3, 4)


def test_difficulty_counts_terms_and_digits() -> None:
    """Both axes can be read off the prompt."""
    for item in drawn("arithmetic", Split.TRAIN, 200):
        read = read_terms(item.messages[0].content)
        assert read is not None
        assert len(read) == item.difficulty["terms"]
        assert {len(str(term)) for term in read} == {item.difficulty["digits"]}


def test_held_out_phrasings_are_for_the_test_split_only() -> None:
    """The last two wordings are asked in the test split and nowhere else."""
    held_out = [re.compile(re.escape(phrasing).replace(r"\{terms\}", r"[\d+ ]+")) for phrasing in PHRASINGS[-2:]]
    for split in Split:
        prompts = [item.messages[0].content for item in drawn("arithmetic", split, 200)]
        asked = any(pattern.fullmatch(prompt) for pattern in held_out for prompt in prompts)
        assert asked == (split is Split.TEST)


def test_one_digit_terms_may_be_zero() -> None:
    """Only longer terms have a first digit that is not zero."""
    rng = Random(3)
    items = [TASK.generate(rng, Split.TRAIN) for _ in range(400)]
    ones = [read_terms(item.messages[0].content) or () for item in items if item.difficulty["digits"] == 1]
    assert any(0 in read for read in ones)
