"""How models of what comes in are set up, and what their JSON Schemas say beyond the types of fields."""

import json
from collections.abc import Callable

from pydantic import BaseModel, ConfigDict, JsonValue, model_validator
from pydantic.config import JsonDict

from unmask.api.refusals import Refusals

STRICT = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


class Strict(BaseModel):
    """An object of a body. However many unknown fields it is sent, one of them is an error: each would take its time.

    Lists stop at their first error for the same reason (``fail_fast``).
    """

    model_config = STRICT

    @model_validator(mode="before")
    @classmethod
    def _one_unknown(cls, given: object) -> object:
        if not isinstance(given, dict):
            return given
        known = {field.alias or name for name, field in cls.model_fields.items()}
        others = [name for name in given if name not in known]
        surplus = frozenset(others[1:])
        return {name: value for name, value in given.items() if name not in surplus} if surplus else given


def described(refused: Refusals, *conditions: JsonDict) -> Callable[[JsonDict], None]:
    """Return what completes the JSON Schema of an object.

    Args:
        refused: fields that are not supported: they are listed with the values of theirs that are taken.
        conditions: what fields ask of one another, as schemas of their own.
    """

    def add(schema: JsonDict) -> None:
        properties = schema["properties"]
        assert isinstance(properties, dict), "the schema of a model lists its fields"
        for name, neutral in refused.items():
            taken = json.loads(json.dumps([None, *neutral]))
            properties[name] = {"enum": taken, "description": "Not supported yet, so it may ask for nothing."}
        if conditions:
            schema["allOf"] = list(conditions)

    return add


def where(name: str, given: JsonDict, **others: JsonDict) -> JsonDict:
    """Return the condition that where a field is so, others are so; one that has to be there is never null."""
    needed: list[JsonValue] = [other for other, schema in others.items() if _is_needed(schema)]
    return {
        "if": {"properties": {name: given}, "required": [name]},
        "then": {"properties": {**others}, "required": needed},
    }


def _is_needed(schema: JsonDict) -> bool:
    values = schema.get("enum")
    return "const" in schema or (isinstance(values, list) and None not in values)
