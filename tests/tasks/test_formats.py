"""Behaviour of `unmask.tasks.formats`."""

import json
import socket
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.tasks.formats import LARGEST_CHECK, AnswerFormat, JsonObject, JsonSchema
from unmask.tasks.schema_limits import InvalidSchemaError
from unmask.types import Verification

PASS, FAIL = Verification.PASS, Verification.FAIL
WHOLE = st.integers(-(1 << 63), (1 << 63) - 1)
JSON = st.recursive(
    st.none() | st.booleans() | WHOLE | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text(max_size=8), below, max_size=4),
    max_leaves=12,
)
KEYWORDS = sorted(
    {"$anchor", "$defs", "$dynamicAnchor", "$dynamicRef", "$id", "$recursiveRef", "$ref", "$schema"}
    | {"additionalProperties", "allOf", "anyOf", "const", "contains", "definitions", "dependencies", "dependentSchemas"}
    | {"else", "enum", "format", "if", "items", "maxLength", "minimum", "multipleOf", "not", "oneOf", "pattern"}
    | {"patternProperties", "prefixItems", "properties", "propertyNames", "required", "then", "type", "uniqueItems"}
    | {"unevaluatedItems", "unevaluatedProperties"}
)
WORDS = st.sampled_from(["#", "#/$defs/a", "#/properties/a", "#a", "object", "integer", "date", "(", "a+", "x"])
LOOSE_SCHEMAS = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(0, 1) | WORDS | st.text(max_size=4),
    lambda below: (
        st.lists(below, max_size=3)
        | st.dictionaries(st.sampled_from(KEYWORDS) | st.sampled_from("ab"), below, max_size=4)
    ),
    max_leaves=16,
)
"""What looks like a part of a schema more often than not, references and all."""
SCHEMAS = st.dictionaries(st.sampled_from(KEYWORDS), LOOSE_SCHEMAS, max_size=6)
TEXTS = ("", " ", "{", "}", "[]", "{}", "{} {}", "```json\n{}\n```", "NaN", "Infinity", "1e999", "\ud800", '"\\ud800"')
DEEP = ("[" * 100_000, "[" * 100_000 + "]" * 100_000, '{"a":' * 900 + "1" + "}" * 900, "[" * 500 + "]" * 500)


@given(value=JSON)
def test_object_is_one_json_object(value: object) -> None:
    """An object passes whatever it holds, and nothing else does."""
    assert JsonObject().verify(json.dumps(value)) is (PASS if isinstance(value, dict) else FAIL)
    assert JsonObject().verify(f"\n {json.dumps({'a': value})}\t") is PASS
    assert JsonObject().verify(json.dumps({"a": value}) + "x") is FAIL


@given(value=JSON)
def test_schema_is_held_to(value: object) -> None:
    """A value passes what allows it and fails what forbids it."""
    text = json.dumps(value)

    assert JsonSchema({}).verify(text) is PASS
    assert JsonSchema({"enum": [value]}).verify(text) is PASS
    assert JsonSchema({"not": {"enum": [value]}}).verify(text) is FAIL
    assert JsonSchema({"type": "array", "items": {"const": value}}).verify(f"[{text}, {text}]") is PASS


@given(schema=SCHEMAS, text=st.text() | JSON.map(json.dumps))
def test_schema_is_taken_or_refused(schema: dict[str, Any], text: str) -> None:
    """Whatever is sent for a schema is one or has an error of its own, and whatever is answered gets a verdict."""
    verdict, told = None, ""
    try:
        verdict = JsonSchema(schema).verify(text)
    except InvalidSchemaError as error:
        told = str(error)

    assert len(told) < 1000
    assert verdict in {PASS, FAIL} or told


@pytest.mark.parametrize("form", [JsonObject(), JsonSchema({}), JsonSchema({"items": {"$ref": "#"}})])
@pytest.mark.parametrize("text", [*TEXTS, *DEEP], ids=lambda value: value[:8])
def test_no_text_raises(form: AnswerFormat, text: str) -> None:
    """Half an object, a fenced one, no Unicode, nesting without end: each has a verdict."""
    assert form.verify(text) in {PASS, FAIL}


@pytest.mark.parametrize("form", [JsonObject(), JsonSchema({})])
@pytest.mark.parametrize("text", [*(text for text in TEXTS if text not in {"[]", "{}"}), *DEEP[:2]])
def test_what_is_no_json_fails(form: AnswerFormat, text: str) -> None:
    """Text around a value, two values, numbers that JSON lacks, and nesting beyond what is followed."""
    assert form.verify(text) is FAIL


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}}, '{"a": 1}', '{"a": 1.5}'),
        ({"type": "array", "prefixItems": [{"type": "string"}]}, '["a", 1]', "[1]"),
        ({"format": "date"}, '"2024-02-29"', '"2023-02-29"'),
        ({"pattern": "^[가-힣]+$"}, '"한글"', '"한글!"'),
        ({"$defs": {"n": {"type": "integer"}}, "$ref": "#/$defs/n"}, "1", '"1"'),
        ({"$defs": {"n": {"$anchor": "x", "type": "integer"}}, "$ref": "#x"}, "1", '"1"'),
        ({"items": {"$ref": "#"}, "type": "array"}, "[[], [[]]]", "[[1]]"),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}]}, '["a"]', "[1]"),
        ({"$id": "http://127.0.0.1:9/me", "items": {"$ref": "#"}, "type": "array"}, "[[]]", "[1]"),
    ],
)
def test_kinds_of_schema(schema: dict[str, Any], good: str, bad: str) -> None:
    """Types, formats, patterns, references and older drafts all count."""
    assert (JsonSchema(schema).verify(good), JsonSchema(schema).verify(bad)) == (PASS, FAIL)


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"type": "banana"}, "banana"),
        ({"properties": {"a": {"type": "banana"}}}, "properties.a.type"),
        ({"allOf": [{"minLength": -1}]}, "allOf[0].minLength"),
        ({"required": "a"}, "required"),
        ({"pattern": "("}, "'('"),
        ({"$ref": "#/$defs/none"}, "leads nowhere"),
        ({"$ref": "#none"}, "leads nowhere"),
    ],
)
def test_what_is_no_schema_is_said(schema: dict[str, Any], told: str) -> None:
    """The error says what is wrong, and where."""
    with pytest.raises(InvalidSchemaError) as caught:
        JsonSchema(schema)

    assert told in caught.value.reason


@pytest.mark.parametrize("pattern", ["(?=a)b", "(?<!a)b", r"(a)\1", "(a{1,1000}){1,1000}"])
@pytest.mark.parametrize("key", ["pattern", "patternProperties"])
def test_patterns_are_those_of_a_linear_engine(key: str, pattern: str) -> None:
    """Look-around, back-references and what grows beyond measure are refused."""
    with pytest.raises(InvalidSchemaError, match="no pattern that is matched here"):
        JsonSchema({key: pattern if key == "pattern" else {pattern: True}})


@pytest.mark.parametrize("pattern", ["^(a+)+$", "^(a|a)*$", "^(.*a){20}$", "(x+x+)+y"])
def test_no_pattern_hangs(pattern: str) -> None:
    """Patterns that take others exponential time have their verdict."""
    form = JsonSchema({"pattern": pattern})

    assert form.verify(json.dumps("a" * 5_000 + "b")) is FAIL


@pytest.mark.parametrize("key", ["$ref", "$dynamicRef", "$recursiveRef", "$schema"])
@pytest.mark.parametrize("below", [False, True])
def test_nothing_is_fetched(key: str, below: bool) -> None:
    """A schema that leads to a server is refused, and the server never hears of it."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        target = f"http://127.0.0.1:{server.getsockname()[1]}/x"
        with pytest.raises(InvalidSchemaError):
            JsonSchema({"properties": {"a": {key: target}}} if below else {key: target})
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()


@pytest.mark.parametrize("target", ["file:///etc/passwd", "other.json", "/other", "//127.0.0.1:9/x", "?x"])
@pytest.mark.parametrize("base", [{}, {"$id": "http://127.0.0.1:9/base"}])
def test_nothing_outside_is_read(target: str, base: dict[str, str]) -> None:
    """Files and relative places are outside as well, whatever the schema calls itself."""
    with pytest.raises(InvalidSchemaError, match="nothing is ever fetched"):
        JsonSchema({**base, "$defs": {"a": {"$ref": target}}})


def test_long_answers_to_hard_schemas_fail() -> None:
    """What cannot be checked in bounded time does not pass."""
    hard = JsonSchema({"allOf": [{"items": {"type": "integer"}}] * 1000})
    easy = JsonSchema({"items": {"type": "integer"}})
    long = json.dumps([1] * (LARGEST_CHECK // 6_000))

    assert (easy.verify(long), hard.verify(long), hard.verify("[1]")) == (PASS, FAIL, PASS)


def test_schema_is_compiled_once() -> None:
    """One schema verifies any number of answers, and answers leave no trace."""
    form = JsonSchema({"type": "integer"})

    assert [form.verify(text) for text in ("1", "x", "1", '"1"')] == [PASS, FAIL, PASS, FAIL]
