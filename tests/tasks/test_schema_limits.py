"""Behaviour of `unmask.tasks.schema_limits`."""

from typing import Any

import pytest

from unmask.tasks.formats import JsonSchema
from unmask.tasks.schema_limits import (
    DEEPEST_SCHEMA,
    DRAFTS,
    LONGEST_SCHEMA,
    MOST_PATTERNS,
    MOST_WORK,
    InvalidSchemaError,
    schema_work,
)
from unmask.types import Verification

Schema = dict[str, Any]


def nested(depth: int) -> Schema:
    """Return a schema of so many levels."""
    schema: Schema = {}
    for _ in range((depth - 1) // 2):
        schema = {"properties": {"a": schema}}
    return schema


def doubling(links: int, keyword: str = "allOf") -> Schema:
    """Return a schema whose every definition refers to the one before it twice."""
    definitions: Schema = {"a0": {"type": "object"}}
    for link in range(1, links + 1):
        definitions[f"a{link}"] = {keyword: [{"$ref": f"#/$defs/a{link - 1}"}] * 2}
    return {"$defs": definitions, "$ref": f"#/$defs/a{links}"}


def unevaluated(levels: int, keyword: str = "unevaluatedProperties") -> Schema:
    """Return a schema of which every level checks all below it anew."""
    schema: Schema = {"properties": {"a": {}}}
    for _ in range(levels):
        schema = {"anyOf": [schema], keyword: {"type": "integer"}}
    return schema


def chain(links: int) -> Schema:
    """Return a schema whose definitions lead to one another in a row."""
    definitions: Schema = {f"a{link}": {"$ref": f"#/$defs/a{link + 1}"} for link in range(links)}
    return {"$defs": {**definitions, f"a{links}": {}}, "$ref": "#/$defs/a0"}


@pytest.mark.parametrize(
    ("schema", "work"),
    [
        ({}, 1),
        ({"type": "object", "const": {"a": [1]}, "title": "x"}, 1),
        ({"items": {}}, 2),
        ({"properties": {"a": {}, "b": True}}, 4),
        ({"$defs": {"a": {"items": {}}}}, 1),
        ({"$defs": {"a": {"items": {}}}, "$ref": "#/$defs/a"}, 3),
        ({"$defs": {"a": {"$anchor": "x"}}, "allOf": [{"$ref": "#x"}, {"$ref": "#/$defs/a"}]}, 6),
        ({"properties": {"a/b": {}, "c": {"$ref": "#/properties/a~1b"}}}, 5),
        ({"items": {"$ref": "#"}}, 3),
    ],
)
def test_work_is_counted_with_references_written_out(schema: Schema, work: int) -> None:
    """Parts count as often as they are reached, a recursive reference once, and what is only text never."""
    assert schema_work(schema) == work


def test_definitions_count_where_they_are_used() -> None:
    """A property may have the name of a keyword and is none."""
    assert schema_work({"properties": {"$defs": {"items": {}}, "const": {"items": {}}}}) == 6


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf", "prefixItems"])
def test_references_that_double_are_refused(keyword: str) -> None:
    """A few lines that would keep a processor busy for years are refused at once."""
    assert schema_work(doubling(8, keyword)) < MOST_WORK
    with pytest.raises(InvalidSchemaError, match="too much work"):
        schema_work(doubling(60, keyword))


@pytest.mark.parametrize("keyword", ["unevaluatedProperties", "unevaluatedItems"])
def test_keywords_that_repeat_what_is_beside_them_count_so(keyword: str) -> None:
    """Each level multiplies the work below it."""
    assert schema_work(unevaluated(4, keyword)) < MOST_WORK
    with pytest.raises(InvalidSchemaError, match="too much work"):
        schema_work(unevaluated(12, keyword))


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}]},
        {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"not": {"$ref": "#/$defs/a"}}}, "$ref": "#/$defs/a"},
        {"dependentSchemas": {"items": {"$ref": "#"}}},
        {"items": {"if": {"$ref": "#/items"}}},
        {"$dynamicAnchor": "x", "anyOf": [{"$dynamicRef": "#x"}]},
    ],
)
def test_endless_recursion_is_refused(schema: Schema) -> None:
    """A part that leads to itself for the same value has no end."""
    with pytest.raises(InvalidSchemaError, match="without end"):
        schema_work(schema)


def test_recursion_into_values_is_taken() -> None:
    """Trees and the like are as deep as their values, and shared parts do not multiply."""
    tree: Schema = {
        "$defs": {
            "node": {
                "type": "object",
                "properties": {"left": {"$ref": "#/$defs/node"}, "right": {"$ref": "#/$defs/node"}},
                "allOf": [{"additionalProperties": {"$ref": "#/$defs/node"}}] * 2,
            }
        },
        "$ref": "#/$defs/node",
    }
    deep = '{"left": ' * 100 + "{}" + "}" * 100

    assert JsonSchema(tree).verify(deep) is Verification.PASS


def test_recursion_with_unevaluated_parts_is_refused() -> None:
    """Together the two take time that nothing here bounds; each alone is taken."""
    with pytest.raises(InvalidSchemaError, match="recursive and has"):
        schema_work({"additionalProperties": {"$ref": "#"}, "anyOf": [{}], "unevaluatedProperties": False})


def test_limits_are_kept() -> None:
    """Length, depth, patterns and chains are taken up to their limit and refused beyond, with the limit."""
    title = {"title": "x" * (LONGEST_SCHEMA - len('{"title":""}'))}
    patterns = [{"pattern": f"a{number}"} for number in range(MOST_PATTERNS)]
    named: Schema = {"patternProperties": {f"a{number}": {} for number in range(MOST_PATTERNS + 1)}}
    for schema in (title, nested(DEEPEST_SCHEMA), {"allOf": patterns}, chain(99)):
        assert schema_work(schema) <= MOST_WORK
    for schema, limit in (
        ({"title": title["title"] + "x"}, LONGEST_SCHEMA),
        (nested(DEEPEST_SCHEMA + 2), DEEPEST_SCHEMA),
        ({"allOf": [*patterns, {"pattern": "b"}]}, MOST_PATTERNS),
        (named, MOST_PATTERNS),
        (chain(1_000), "links"),
        ({"allOf": [{"allOf": [{}] * 100}] * 100}, MOST_WORK),
    ):
        with pytest.raises(InvalidSchemaError) as caught:
            schema_work(schema)
        assert str(limit) in caught.value.allowed


@pytest.mark.parametrize("schema", [{"title": "\ud800"}, {"\ud800": 1}, {"a": object()}])
def test_what_is_no_json_is_refused(schema: Schema) -> None:
    """A schema comes from JSON, and whoever makes one otherwise is told."""
    with pytest.raises(InvalidSchemaError, match="cannot be written as JSON"):
        schema_work(schema)


@pytest.mark.parametrize("draft", DRAFTS)
def test_known_drafts_are_taken(draft: str) -> None:
    """With and without the empty fragment that older ones end in."""
    assert schema_work({"$schema": draft}) == schema_work({"$schema": f"{draft}#"}) == 1


@pytest.mark.parametrize(
    "schema",
    [
        {"$schema": "http://json-schema.org/draft-04/schema#"},
        {"$schema": "https://example.com/mine", "$id": "https://example.com/mine"},
        {"$ref": DRAFTS[0]},
        {"properties": {"a": {"$id": "b"}}},
        {"properties": {"a": {"$schema": DRAFTS[0]}}},
    ],
)
def test_other_roots_are_refused(schema: Schema) -> None:
    """Meta-schemas of one's own, and parts that are schemas of their own, would change what references mean."""
    with pytest.raises(InvalidSchemaError):
        schema_work(schema)
