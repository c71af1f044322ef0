"""The parts of the OpenAPI document that FastAPI cannot know, since bodies are read and checked by hand."""

from collections.abc import Mapping, Sequence

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from unmask.api.chat_schema import ChatBody
from unmask.api.completion_schema import CompletionBody
from unmask.api.components import TEMPLATE, Json, reference, with_schemas
from unmask.api.documented import ErrorBody
from unmask.api.examples import Example
from unmask.api.responses import REASON
from unmask.backend import ModelInfo

_RETRIED = frozenset({429, 503})
"""Statuses whose answers say when to come back, where that is known."""


def request_body(body_type: type[BaseModel], examples: Mapping[str, Example], models: Sequence[ModelInfo]) -> Json:
    """Describe the body of a generating endpoint, with examples that ask for a served model."""
    served = {"model": models[0].name} if models else {}
    content = {
        "schema": reference(body_type.__name__),
        "examples": {
            name: {"summary": example.summary, "value": {**example.body, **served}}
            for name, example in examples.items()
        },
    }
    return {"requestBody": {"required": True, "content": {"application/json": content}}}


def errors(*statuses: int) -> dict[int | str, Json]:
    """Describe the error answers of an endpoint."""
    return {status: {"model": ErrorBody, **_retrying(status)} for status in statuses}


def _retrying(status: int) -> Json:
    if status not in _RETRIED:
        return {}
    units = {"retry-after": "seconds", "retry-after-ms": "milliseconds"}
    when = {
        name: {"description": f"When to come back, in {unit}.", "schema": {"type": "integer", "minimum": 0}}
        for name, unit in units.items()
    }
    return {"headers": {REASON: {"description": "The error's code.", "schema": {"type": "string"}}, **when}}


def path_parameter(name: str, description: str) -> Json:
    """Describe a part of a path that the endpoint reads by itself."""
    return {
        "parameters": [
            {"name": name, "in": "path", "required": True, "description": description, "schema": {"type": "string"}}
        ]
    }


def with_request_schemas(document: Json, models: Sequence[ModelInfo]) -> Json:
    """Add the schemas that `request_body` refers to, with the limits of the served models."""
    _, schemas = models_json_schema([(ChatBody, "validation"), (CompletionBody, "validation")], ref_template=TEMPLATE)
    for schema in schemas["$defs"].values():
        for name, limit in _limits(models).items():
            if name in schema.get("properties", {}):
                schema["properties"][name] |= limit
    return with_schemas(document, schemas["$defs"])


def _limits(models: Sequence[ModelInfo]) -> Mapping[str, Json]:
    """Return what JSON Schema can say of fields whose limits are a model's: the widest of all models."""
    tokens = {"maximum": max((model.context_length for model in models), default=1)}
    steps = {"maximum": max((model.max_steps for model in models), default=1)}
    canvas = {"enum": [None, *sorted({length for model in models for length in model.canvas_lengths})]}
    # No model has no name: an `enum` of nothing would be no JSON Schema.
    names = {"enum": [model.name for model in models]} if models else {}
    return {
        "model": names,
        "max_tokens": tokens,
        "max_completion_tokens": tokens,
        "max_steps": steps,
        "num_denoising_steps": steps,
        "diffusion_max_steps": steps,
        "canvas_length": canvas,
        "diffusion_canvas_length": canvas,
    }
