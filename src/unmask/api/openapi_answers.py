"""The parts of the OpenAPI document about answers that FastAPI cannot know: events of a stream, and headers."""

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from unmask.api.components import TEMPLATE, Json, reference, with_schemas
from unmask.api.costs import COST
from unmask.api.documented import ErrorBody
from unmask.api.headers import BUCKET, CACHE, MIXED, OVERHEAD, STEPS
from unmask.api.request_id import HEADER, LONGEST_ID
from unmask.api.sse import SNAPSHOT
from unmask.cache.cache import Match
from unmask.types import Bucket

UNNAMED = "message"
"""What the standard calls an event whose name is not sent."""


def answers(whole: type[BaseModel], chunk: type[BaseModel]) -> dict[int | str, Json]:
    """Describe the successful answers of a generating endpoint, whole and in chunks."""
    return {
        200: {
            "model": whole,
            "description": "The answer, or with `stream` a stream of its parts.",
            "headers": _headers(),
            "content": {"text/event-stream": {"itemSchema": _event(chunk)}},
        }
    }


def with_event_schemas(document: Json, *chunks: type[BaseModel]) -> Json:
    """Add the schemas that the events of `answers` refer to."""
    models = [(model, "serialization") for model in (*chunks, ErrorBody)]
    _, schemas = models_json_schema(models, ref_template=TEMPLATE)  # type: ignore[arg-type]
    return with_schemas(document, schemas["$defs"])


def with_request_ids(document: Json) -> Json:
    """Add the header that every answer has."""
    header = {
        "description": "The request's own, or one made here.",
        "required": True,
        "schema": {"type": "string", "minLength": 1, "maxLength": LONGEST_ID},
    }
    for operations in document["paths"].values():
        for operation in operations.values():
            for answer in operation["responses"].values():
                answer.setdefault("headers", {})[HEADER.decode()] = header
    return document


def _event(chunk: type[BaseModel]) -> Json:
    carried = [reference(model.__name__) for model in (chunk, ErrorBody)]
    return {
        "type": "object",
        "required": ["data"],
        "properties": {
            "event": {
                "enum": [UNNAMED, SNAPSHOT],
                "default": UNNAMED,
                "description": f"`{SNAPSHOT}` on events that carry a draft; others have no name.",
            },
            "data": {
                "anyOf": [
                    {"type": "string", "contentMediaType": "application/json", "contentSchema": {"anyOf": carried}},
                    {"const": "[DONE]", "description": "The end of a stream in which nothing failed."},
                ]
            },
        },
        "additionalProperties": False,
    }


def _headers() -> Json:
    return {
        STEPS: {
            "description": "Denoise steps of all choices together, where they are known. Not on streams.",
            "schema": {"type": "integer", "minimum": 0},
        },
        BUCKET: {
            "description": "The budget tier asked for, where one was.",
            "schema": {"type": "string", "enum": [bucket.value for bucket in Bucket]},
        },
        COST: {
            "description": "What the call cost, in units of money, where it is booked and has a price. Not on streams.",
            "schema": {"type": "string", "pattern": r"^\d+(\.\d+)?$"},
        },
        CACHE: {
            "description": "How the cache of answers has found the choices, where it was asked for all of them.",
            "schema": {"type": "string", "enum": [*(match.value for match in Match), MIXED]},
        },
        OVERHEAD: {
            "description": "Milliseconds in this server and outside the backend; on a stream until its headers.",
            "schema": {"type": "number", "minimum": 0},
        },
    }
