"""The part of the OpenAPI document about keys."""

from collections.abc import Container

from unmask.api.components import Json

SCHEME = "key"


def with_keys(document: Json, open_paths: Container[str]) -> Json:
    """Say that every endpoint asks for a key, save those that are open to all."""
    schemes = document.setdefault("components", {}).setdefault("securitySchemes", {})
    schemes[SCHEME] = {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "um-<id>-<secret>",
        "description": "An API key. Which endpoints it opens is a matter of its roles.",
    }
    document["security"] = [{SCHEME: []}]
    for path, operations in document["paths"].items():
        if path in open_paths:
            for operation in operations.values():
                operation["security"] = []
    return document
