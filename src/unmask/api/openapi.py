"""The parts of the OpenAPI document that FastAPI cannot know, since bodies are read and checked by hand."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from unmask.api.chat_schema import ChatBody
from unmask.api.completion_schema import CompletionBody
from unmask.api.documented import ErrorBody
from unmask.api.examples import Example
from unmask.backend import ModelInfo

Json = dict[str, Any]
_TEMPLATE = "#/components/schemas/{model}"


def request_body(body_type: type[BaseModel], examples: Mapping[str, Example]) -> Json:
    """Describe the body of a generating endpoint."""
    content = {
        "schema": {"$ref": _TEMPLATE.format(model=body_type.__name__)},
        "examples": {name: {"summary": example.summary, "value": example.body} for name, example in examples.items()},
    }
    return {"requestBody": {"required": True, "content": {"application/json": content}}}


def errors(*statuses: int) -> dict[int | str, Json]:
    """Describe the error answers of an endpoint."""
    return {status: {"model": ErrorBody} for status in statuses}


def with_request_schemas(document: Json, models: Sequence[ModelInfo]) -> Json:
    """Add the schemas that `request_body` refers to, with the limits of the served models."""
    _, schemas = models_json_schema([(ChatBody, "validation"), (CompletionBody, "validation")], ref_template=_TEMPLATE)
    for schema in schemas["$defs"].values():
        for name, limit in _limits(models).items():
            if name in schema.get("properties", {}):
                schema["properties"][name] |= limit
    document["components"]["schemas"].update(schemas["$defs"])
    return document


def _limits(models: Sequence[ModelInfo]) -> Mapping[str, Json]:
    """Return what JSON Schema can say of fields whose limits are a model's: the widest of all models."""
    tokens = {"maximum": max((model.context_length for model in models), default=1)}
    steps = {"maximum": max((model.max_steps for model in models), default=1)}
    canvas = {"enum": [None, *sorted({length for model in models for length in model.canvas_lengths})]}
    return {
        "max_tokens": tokens,
        "max_completion_tokens": tokens,
        "max_steps": steps,
        "num_denoising_steps": steps,
        "diffusion_max_steps": steps,
        "canvas_length": canvas,
        "diffusion_canvas_length": canvas,
    }
