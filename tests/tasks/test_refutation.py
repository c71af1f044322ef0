"""Behaviour of `unmask.tasks.refutation`, and of `dialogue_refuted`."""

from random import Random
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tasks.test_dialogue_complete import asked
from unmask.control.check import make_check
from unmask.tasks.dialogue import Dialogue
from unmask.tasks.dialogue_refuted import is_refuted
from unmask.tasks.formats import JsonObject
from unmask.tasks.item import Split
from unmask.tasks.refutation import is_no_json
from unmask.tasks.registry import all_tasks

MESSAGES = asked("What is your town?")
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("beginning", "holds"),
    [
        ("", False),
        ("Hmph", False),
        ("Hmph. I live in Velka", False),
        ("Hmph. I live in Velka.", False),
        ("Hmph. I live in Velka. ", True),
        ("Hmph. I live in Miven. ", False),
        ("I live in Velka. My ally", True),
        ("Hmph. Hmph. I live", True),
        ("I live in Miven. Now leave me to my work, and", False),
        ("나는 Miven에 산다. ", True),
    ],
)
def test_a_whole_sentence_that_is_neither_manner_nor_true_refutes(beginning: str, holds: bool) -> None:
    """A sentence is whole once a blank follows it."""
    assert is_refuted(MESSAGES, beginning) is holds


def test_no_beginning_of_an_answer_that_passes_is_refuted() -> None:
    """Whatever its phrasing, opening and closing, and wherever it is cut."""
    rng = Random(3)
    for _ in range(60):
        item = Dialogue().generate(rng, Split.TUNE)
        check = make_check(item.messages, all_tasks()["dialogue"], None)
        assert check is not None
        assert check.refutes is not None
        text = item.answer
        assert check.passes(text)
        assert not any(check.refutes(text[:end]) for end in range(len(text) + 1))


def test_a_request_without_a_speaker_refutes_nothing() -> None:
    """There is nothing that a sentence could be held to."""
    assert not is_refuted((), "I live in Velka. ")


@given(value=JSON, share=st.floats(0, 1))
def test_no_beginning_of_json_is_refuted(value: Any, share: float) -> None:  # noqa: ANN401 - any JSON value
    """Wherever it is cut, in Hangul as well."""
    text = orjson.dumps(value).decode()
    assert not is_no_json(text[: round(share * len(text))])


@pytest.mark.parametrize("text", ["Here", "{a", '{"a" 1', "[1,,", '{"이름": 01'])
def test_what_no_json_begins_with_is_refuted(text: str) -> None:
    """An answer that is to be JSON is then lost."""
    check = make_check((), None, JsonObject())
    assert check is not None
    assert check.refutes is not None
    assert check.refutes(text)


def test_nesting_beyond_what_is_looked_at_is_not_refuted() -> None:
    """The verifier follows deeper ones."""
    assert not is_no_json("[" * 300)


def test_answers_that_are_judged_whole_have_nothing_that_refutes() -> None:
    """A sum has to end before anything can be said of it."""
    check = make_check((), all_tasks()["arithmetic"], None)
    assert check is not None
    assert check.refutes is None
