"""Extraction: the generator's promises, the checker and the verifier."""

import json
import re
from functools import cache
from random import Random

import pytest

from unmask.tasks.extract import MAX_ANSWER_TOKENS, Extract, crude_tokens
from unmask.tasks.extract_fields import GROUPS, INSTRUCTIONS, LIST_FIELDS, PLAIN_FIELDS, Field, Kind
from unmask.tasks.item import Difficulty, Item, Split, split_of
from unmask.tasks.names import is_held_out
from unmask.types import Message, Role

TASK = Extract()
COUNT = 300
FIELDS = tuple(dict.fromkeys((*PLAIN_FIELDS, *LIST_FIELDS, *(field for group in GROUPS for field in group.fields))))
ITEM = Item(
    task="extract",
    messages=(
        Message(
            role=Role.USER,
            content='extract {"name":str,"age":int,"married":bool,"home":{"city":str},"tools":[str]} from: '
            "Meet Kaloren. She is 42 years old and Kaloren is married. She lives in Miven. She carries rope and axe.",
        ),
    ),
    answer='{"name":"Kaloren","age":42,"married":true,"home":{"city":"Miven"},"tools":["rope","axe"]}',
    difficulty=Difficulty(axes=(("fields", 5), ("nesting", 1), ("array", 1))),
    canonical="",
)
ODD_TEXTS = (
    "",
    " ",
    "카로렌은 마흔두 살입니다",
    '{"이름":"카로렌"}',
    "[" * 200_000,
    "[" * 19_000,
    '{"a":' * 3_000,
    "x" * 1_000_000,
    "9" * 10_000,
    "NaN",
    '{"age":NaN}',
    '{"age":-Infinity}',
    "null",
    "[]",
    "{}",
    "\x00",
    '"\\ud800"',
    "\ud800",
    '{"\ud800":1}',
    ITEM.answer.replace('"Kaloren"', '"\\ud800"'),
    ITEM.answer.replace("42", "1e400"),
    ITEM.answer.replace('"rope"', '{"a":[]}'),
)


@cache
def items(split: Split) -> tuple[Item, ...]:
    """Return the seeded items of a split."""
    rng = Random(2024)
    return tuple(TASK.generate(rng, split) for _ in range(COUNT))


def leaves(shape: dict[str, object]) -> list[object]:
    """Return the leaf values of a nested answer."""
    found: list[object] = []
    for value in shape.values():
        found.extend(leaves(value) if isinstance(value, dict) else [value])
    return found


def permuted(value: object, rng: Random) -> object:
    """Return an equal answer with keys and arrays in another order."""
    if isinstance(value, dict):
        return {key: permuted(value[key], rng) for key in rng.sample(list(value), len(value))}
    return rng.sample(value, len(value)) if isinstance(value, list) else value


@pytest.mark.parametrize("split", Split)
def test_reference_passes_checker_and_verifier(split: Split) -> None:
    """Every reference answer is right for the checker and plausible for the verifier."""
    for item in items(split):
        assert TASK.check(item, item.answer).passed
        assert TASK.verify(item.messages, item.answer).passed


@pytest.mark.parametrize("split", Split)
def test_items_lie_in_their_split(split: Split) -> None:
    """The canonical form hashes into the split, and only test items use held-out names."""
    for item in items(split):
        assert split_of(item.canonical) is split
        for value in leaves(json.loads(item.answer)):
            if isinstance(value, str) and value[0].isupper():
                assert is_held_out(value) == (split is Split.TEST)


def test_generation_is_deterministic() -> None:
    """The same seed gives the same items."""
    for split in Split:
        rng = Random(2024)
        assert tuple(TASK.generate(rng, split) for _ in range(20)) == items(split)[:20]


def test_answers_use_the_canvas_but_fit_it() -> None:
    """A third of the answers or more are 24-96 tokens long, none exceeds the cap, prompts stay under 400."""
    for split in Split:
        lengths = [crude_tokens(item.answer) for item in items(split)]
        assert max(lengths) <= MAX_ANSWER_TOKENS
        assert sum(24 <= length <= 96 for length in lengths) >= COUNT / 3
        assert max(crude_tokens(item.messages[0].content) for item in items(split)) <= 400


def test_difficulty_axes_describe_the_answer() -> None:
    """``fields`` counts leaves, ``nesting`` and ``array`` tell what the schema holds; keys keep the schema's order."""
    for item in items(Split.TRAIN):
        answer = json.loads(item.answer)
        schema = item.messages[0].content
        assert item.difficulty["fields"] == len(leaves(answer))
        assert item.difficulty["nesting"] == any(isinstance(value, dict) for value in answer.values())
        assert item.difficulty["array"] == ("[str]" in schema)
        assert item.answer == json.dumps(answer, separators=(",", ":"))
        written = re.findall(r'"(\w+)":', schema)
        assert written == re.findall(r'"(\w+)":', item.answer)


def test_some_fields_are_missing_from_the_text() -> None:
    """About one item in ten asks for a field that the text does not give."""
    share = sum("null" in item.answer for split in Split for item in items(split)) / (4 * COUNT)
    assert 0.07 <= share <= 0.13


def test_permuted_keys_and_arrays_pass() -> None:
    """Order of keys and of array elements carries no meaning."""
    rng = Random(1)
    for item in items(Split.TUNE):
        text = json.dumps(permuted(json.loads(item.answer), rng))
        assert TASK.check(item, text).passed
        assert TASK.verify(item.messages, text).passed


def test_another_items_answer_fails() -> None:
    """An answer to a different request is neither right nor of the right shape and content."""
    pairs = list(zip(items(Split.TRAIN), items(Split.TRAIN)[1:], strict=False))
    for item, other in pairs:
        assert not TASK.check(item, other.answer).passed
        assert not TASK.verify(item.messages, other.answer).passed


@pytest.mark.parametrize(
    ("old", "new", "path", "verifiable"),
    [
        ('"Kaloren"', '"Kalore"', "name", True),
        ('"Kaloren"', '"Miven"', "name", False),
        ('"Kaloren"', '""', "name", True),
        ('"Kaloren"', "null", "name", False),
        ("42", '"42"', "age", True),
        ("42", "42.0", "age", True),
        ("42", "4", "age", True),
        ("42", "true", "age", True),
        ("true", "1", "married", True),
        ("true", '"true"', "married", True),
        ("true", "false", "married", False),
        ('"Miven"', '"Dolu"', "home.city", True),
        ('"city"', '"town"', "home.town", True),
        ('{"city":"Miven"}', "{}", "home.city", True),
        ('{"city":"Miven"}', '"Miven"', "home", True),
        ('{"city":"Miven"}', '{"city":"Miven","city":"Miven"}', "home.city", True),
        ('["rope","axe"]', '["rope"]', "tools", False),
        ('["rope","axe"]', '["rope","axe","axe"]', "tools", True),
        ('["rope","axe"]', '["rope","saw"]', "tools", True),
        ('["rope","axe"]', '["rope",1]', "tools", True),
        ('["rope","axe"]', '"rope"', "tools", True),
        ('["rope","axe"]', "[]", "tools", True),
        ('"age":42,', "", "age", True),
        ('"age":42,', '"age":42,"age":42,', "age", True),
        ('"age":42,', '"age":42,"room":42,', "room", True),
        ("42", "NaN", "answer", True),
        ("42,", "42", "answer", True),
        ("}", "", "answer", True),
    ],
)
def test_corrupted_answer_fails_naming_the_path(old: str, new: str, path: str, verifiable: bool) -> None:
    """Each kind of damage fails the checker, and the verifier where the request alone shows it."""
    text = ITEM.answer.replace(old, new)
    assert text != ITEM.answer
    checked = TASK.check(ITEM, text)
    assert not checked.passed
    assert checked.reason.startswith(f"{path}:")
    verified = TASK.verify(ITEM.messages, text)
    assert verified.passed is not verifiable
    assert verified.passed or verified.reason.startswith(f"{path}:")


@pytest.mark.parametrize("wrap", ["Sure: {}", "{} .", "```json\n{}\n```", "{0}{0}", "[{}]"])
def test_surrounding_text_fails(wrap: str) -> None:
    """The answer is the JSON and nothing beside it."""
    text = wrap.replace("{0}", "{}").replace("{}", ITEM.answer)
    assert not TASK.check(ITEM, text).passed
    assert not TASK.verify(ITEM.messages, text).passed


@pytest.mark.parametrize("text", ODD_TEXTS, ids=range(len(ODD_TEXTS)))
def test_odd_text_fails_without_raising(text: str) -> None:
    """Whatever a model writes, checker and verifier answer with a printable reason."""
    for result in (TASK.check(ITEM, text), TASK.verify(ITEM.messages, text)):
        assert not result.passed
        assert result.reason.isprintable()
        assert result.reason.isascii()


@pytest.mark.parametrize("text", [*ODD_TEXTS, '{"a":' * 100_000, '{"a":{}}', '{"a":str,"a":str}', "{" * 100_000])
def test_verify_without_a_schema_fails(text: str) -> None:
    """A request that holds no schema cannot be verified, and does not raise."""
    message = Message(role=Role.USER, content=text)
    assert not TASK.verify((message,), "{}").passed
    assert not TASK.verify((), text).passed


def test_verifier_does_not_count_instruction_words_as_text() -> None:
    """A value that only the instruction or the schema holds is not in the text."""
    for instruction in INSTRUCTIONS:
        prompt = instruction.format(schema='{"name":str}', text="Kaloren is 42 years old.")
        messages = (Message(role=Role.USER, content=prompt),)
        assert TASK.verify(messages, '{"name":"Kaloren"}').passed
        for word in {*re.findall(r"[a-z]+", instruction), "str"}:
            assert not TASK.verify(messages, json.dumps({"name": word})).passed


def test_verifier_accepts_an_unknown_instruction() -> None:
    """A request worded and spaced differently is still read."""
    message = Message(role=Role.USER, content='Please use { "name": str, "tools": [str] }: Kaloren carries rope, axe.')
    assert TASK.verify((message,), '{"name":"Kaloren","tools":["axe","rope"]}').passed


def test_vocabularies_are_disjoint() -> None:
    """A word belongs to one field, and no sentence uses it for something else."""
    words = [word for field in FIELDS for word in field.words]
    assert len(words) == len(set(words))
    sentences = " ".join(phrasing for field in FIELDS for phrasing in field.phrasings + field.denied)
    assert not set(words) & set(sentences.split())


def _pools(field: Field) -> list[tuple[str, ...]]:
    return [pool for pool in (field.phrasings, field.denied) if pool]


def test_held_out_phrasings_use_trained_words() -> None:
    """Test-only phrasings are new orders of words that training has seen."""
    pools = [INSTRUCTIONS]
    trained: set[str] = set()
    held_out: set[str] = set()
    for pool in pools:
        for place, phrasing in enumerate(pool):
            seen = place < len(pool) - len(pool) // 4
            (trained if seen else held_out).update(re.findall(r"\w+", phrasing))
    assert held_out <= trained


def test_every_field_has_four_different_phrasings() -> None:
    """Each field can be said in four ways or more, and booleans can be denied in as many."""
    for field in FIELDS:
        assert (field.kind is Kind.BOOL) == bool(field.denied)
        for pool in _pools(field):
            assert len(set(pool)) == len(pool) >= 4
