"""The parts of the OpenAPI document that FastAPI cannot know, since the body is read and checked by hand."""

from typing import Any

from pydantic.json_schema import models_json_schema

from unmask.api.documented import ErrorBody
from unmask.api.schema import EXAMPLE, ChatBody

Json = dict[str, Any]
_TEMPLATE = "#/components/schemas/{model}"


def request_body() -> Json:
    """Describe the body of a chat completion request."""
    content = {"schema": {"$ref": _TEMPLATE.format(model=ChatBody.__name__)}, "example": EXAMPLE}
    return {"requestBody": {"required": True, "content": {"application/json": content}}}


def errors(*statuses: int) -> dict[int | str, Json]:
    """Describe the error answers of an endpoint."""
    return {status: {"model": ErrorBody} for status in statuses}


def with_request_schema(document: Json) -> Json:
    """Add the schemas that `request_body` refers to."""
    _, schemas = models_json_schema([(ChatBody, "validation")], ref_template=_TEMPLATE)
    document["components"]["schemas"].update(schemas["$defs"])
    return document
