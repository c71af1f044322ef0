"""``response_format``: the form that an answer is verified against."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Discriminator, Field, Tag

from unmask.api.refusals import NAMED_SCHEMA
from unmask.api.strict import STRICT, Strict, described
from unmask.tasks.schema_limits import LONGEST_SCHEMA

LONGEST_NAME = 64
LONGEST_DESCRIPTION = 1_024
PLAIN_TAG = "<plain>"
SCHEMA_TAG = "<schema>"


class PlainFormat(Strict):
    """Any text, or any JSON object."""

    type: Literal["text", "json_object"] = Field(
        description="`text` asks nothing of the answer; `json_object` verifies that it is a JSON object."
    )


class NamedSchema(Strict):
    """A JSON Schema and what the client calls it."""

    model_config = ConfigDict(**STRICT, json_schema_extra=described(NAMED_SCHEMA))

    name: str = Field(
        min_length=1, max_length=LONGEST_NAME, pattern=r"^[a-zA-Z0-9_-]+$", description="Changes nothing."
    )
    description: str | None = Field(default=None, max_length=LONGEST_DESCRIPTION, description="Changes nothing.")
    definition: dict[str, object] = Field(
        alias="schema",
        description="A JSON Schema: draft 2020-12 unless `$schema` names 2019-09, 07 or 06. At most "
        f"{LONGEST_SCHEMA} bytes; references begin with `#`; patterns have neither look-around nor back-references.",
    )


class SchemaFormat(Strict):
    """An answer that a JSON Schema allows."""

    type: Literal["json_schema"]
    json_schema: NamedSchema


def _format_tag(value: object) -> str:
    named = isinstance(value, dict) and value.get("type") in ("text", "json_object")
    return PLAIN_TAG if named else SCHEMA_TAG


ResponseFormat = Annotated[
    Annotated[PlainFormat, Tag(PLAIN_TAG)] | Annotated[SchemaFormat, Tag(SCHEMA_TAG)], Discriminator(_format_tag)
]
