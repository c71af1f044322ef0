"""Behaviour of `unmask.control.features`."""

from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.control.features import FEATURES, LARGEST, LONGEST_LINE, MOST_SCHEMA_PARTS, Features, features_of
from unmask.control.question import QuestionKind
from unmask.tasks.item import Item, Split
from unmask.tasks.registry import all_tasks
from unmask.types import Message, Role


def of_user(prompt: str, system: str | None = None, **options: Any) -> Features:  # noqa: ANN401 - any option
    """Return the features of a prompt."""
    head = () if system is None else (Message(role=Role.SYSTEM, content=system),)
    messages = (*head, Message(role=Role.USER, content=prompt))
    return features_of(messages, "sort", **({"prompt_tokens": 7, "max_tokens": 64} | options))


def drawn(task: str, count: int = 40) -> list[tuple[Item, Features]]:
    """Return items of a task type with their features."""
    rng = Random(3)
    items = [all_tasks()[task].generate(rng, Split.TUNE) for _ in range(count)]
    return [(item, features_of(item.messages, task, prompt_tokens=50, max_tokens=95)) for item in items]


@pytest.mark.parametrize(
    ("task", "axis", "read"),
    [
        ("sort", "length", lambda features: features["numbers"]),
        ("arithmetic", "terms", lambda features: features["pluses"] + 1),
        ("arithmetic", "digits", lambda features: features["longest_number"]),
        ("latin", "blanks", lambda features: features["blanks"]),
        ("latin", "size", lambda features: features["lines"] - 1),
        ("lookup", "hops", lambda features: features["question_joins"] + 1),
        ("dialogue", "turns", lambda features: features["turns"]),
    ],
)
def test_axes_of_difficulty_are_seen(task: str, axis: str, read: Any) -> None:  # noqa: ANN401 - any of the readers
    """What makes a generated item hard can be read off its features alone."""
    for item, features in drawn(task):
        assert read(features) == item.difficulty[axis]


def test_fields_of_extractions_are_seen() -> None:
    """Leaves of a schema and its objects are its keys."""
    for item, features in drawn("extract"):
        assert features["keys"] - (features["objects"] - 1) == item.difficulty["fields"]


def test_facts_are_lines_before_the_question() -> None:
    """Facts count in both renderings and in both places; headings of cards are none."""
    triples = "Kaloren home Miven\nKaloren ally Dorasen\nWhat is home of Kaloren?"
    cards = "# Kaloren\n- home Miven\n- ally Dorasen\n# Miven\n- era frost\nWhat is home of Kaloren?"

    assert of_user(triples)["facts"] == 2
    assert of_user(cards)["facts"] == 3
    assert of_user("Who are you?", "# Kaloren\n- home Miven\nYou are Kaloren.")["facts"] == 2
    assert of_user("Who are you?")["facts"] == 0


def test_the_last_question_counts() -> None:
    """Turns are the user's; numbers and words are those of the last one."""
    messages = (
        Message(role=Role.USER, content="sort 1, 2, 3"),
        Message(role=Role.ASSISTANT, content="1, 2, 3"),
        Message(role=Role.USER, content="And what of 44, 5?"),
    )
    features = features_of(messages, "sort", prompt_tokens=20, max_tokens=64)

    assert features["turns"] == 2
    assert features["numbers"] == 2
    assert features["digits"] == 3
    assert features["longest_number"] == 2
    assert features["question_kind"] == QuestionKind.FOLLOW_UP
    assert features["question_words"] == 5
    assert features["question_marks"] == 1


def test_format_and_its_complexity() -> None:
    """No format, any object and a schema are three things; a schema counts by fields, depth and lists."""
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "pets": {"type": "array", "items": {"type": "string"}},
            "owner": {"type": "object", "properties": {"age": {"type": "integer"}}},
        },
    }
    names = ("format", "schema_fields", "schema_depth", "schema_lists")

    assert [of_user("x")[name] for name in names] == [0, 0, 0, 0]
    assert [of_user("x", schema={})[name] for name in names] == [1, 0, 0, 0]
    assert [of_user("x", schema=schema)[name] for name in names] == [2, 4, 5, 1]


def test_huge_schema_is_counted_in_part() -> None:
    """A schema is looked at up to a number of parts, so that its cost is bounded."""
    parts: dict[str, object] = {str(number): {"properties": {"a": {}}} for number in range(MOST_SCHEMA_PARTS)}
    wide: dict[str, object] = {"properties": parts}

    assert of_user("x", schema=wide)["schema_fields"] == MOST_SCHEMA_PARTS


@pytest.mark.parametrize(
    ("prompt", "script"),
    [
        ("숫자를 정렬해 주세요", "hangul"),
        ("请排序这些数字", "han"),
        ("ならべかえてください", "kana"),
        ("Отсортируй числа", "cyrillic"),
        ("رتب الأرقام", "arabic"),
        ("सूची क्रमबद्ध करें", "other_scripts"),
        ("🙂🙂🙂", "other_scripts"),
    ],
)
def test_scripts_are_told_apart(prompt: str, script: str) -> None:
    """The largest share is that of the script a prompt is written in; ASCII and Latin letters are no script here."""
    features = of_user(prompt)
    shares = {name: features[name] for name in FEATURES[-6:]}

    assert max(shares, key=shares.__getitem__) == script
    assert shares[script] > 0.5
    assert sum(share > 0 for share in shares.values()) == 1
    assert {of_user("sort café, naïve")[name] for name in FEATURES[-6:]} == {0.0}


def test_share_is_of_all_characters() -> None:
    """Half Hangul is a half, and a single letter is never rounded away."""
    assert of_user("가나다라abcd")["hangul"] == 0.5
    assert of_user("가" + "a" * 1000)["hangul"] == 1 / 64
    assert of_user("abcd", "가나다라")["hangul"] == 0.5


def test_korean_request_has_its_numbers() -> None:
    """Numbers, items and joins are seen whatever the script around them."""
    features = of_user("3, 17 그리고 5 를 작은 수부터 정렬해 주세요")

    assert features["numbers"] == 3
    assert features["digits"] == 4
    assert features["list_length"] == 3
    assert features["question_joins"] == 2
    assert features["question_kind"] == QuestionKind.COMMAND


texts = st.text(st.characters(), max_size=200)


@given(st.lists(st.tuples(st.sampled_from(Role), texts), max_size=5), st.integers(0, 10**9), st.integers(1, 10**9))
def test_any_conversation_has_exact_features(said: list[tuple[Role, str]], prompt_tokens: int, max_tokens: int) -> None:
    """Whatever is said, lone surrogates included: all features, the same each time, exact in 32 bits, bounded."""
    messages = tuple(Message(role=role, content=text) for role, text in said)
    features, again = (
        features_of(messages, "sort", prompt_tokens=prompt_tokens, max_tokens=max_tokens) for _ in range(2)
    )

    assert features == again
    assert len(features.values) == len(FEATURES)
    assert features.vector.dtype == np.float32
    assert features.vector.tolist() == list(features.values)
    assert all(0 <= value <= LARGEST for value in features.values)


def test_long_lines_are_read_at_their_beginning() -> None:
    """Words are counted in the first characters of a line, so that a prompt without line breaks costs no more."""
    assert of_user("a " * 10_000)["question_words"] == LONGEST_LINE // 2
    assert of_user("\ud800 12")["numbers"] == 1


def test_unknown_name_is_refused() -> None:
    """A feature that there is none of is an error, not a zero."""
    with pytest.raises(ValueError, match="tuple"):
        of_user("x")["mood"]
