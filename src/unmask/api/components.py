"""Named schemas of the OpenAPI document, which other parts of it refer to."""

from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]
TEMPLATE = "#/components/schemas/{model}"


def reference(name: str) -> Json:
    """Return what stands for a named schema."""
    return {"$ref": TEMPLATE.format(model=name)}


def with_schemas(document: Json, schemas: Mapping[str, Json]) -> Json:
    """Add schemas that may be there already, though never under the name of another."""
    there = document["components"]["schemas"]
    for name, schema in schemas.items():
        assert there.get(name, schema) == schema, f"two schemas are called {name}"
        there[name] = schema
    return document
