"""The endpoints that say what is served."""

from dataclasses import dataclass

from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from unmask.api.reading import find_model
from unmask.api.responses import json_response
from unmask.backend import Backend, ModelInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """Answers what is served."""

    backend: Backend
    started: int

    async def models(self) -> Response:
        """List the served models."""
        entries = [model_entry(model, self.started) for model in self.backend.models()]
        return json_response({"object": "list", "data": entries})

    async def model(self, http: HttpRequest) -> Response:
        """Show one model."""
        return json_response(model_entry(find_model(self.backend, http.path_params["model_id"]), self.started))


def model_entry(model: ModelInfo, created: int) -> dict[str, object]:
    """Write an entry of the model list with what a client may ask of the model."""
    return {
        "id": model.name,
        "object": "model",
        "created": created,
        "owned_by": "unmask",
        "digest": model.digest,
        "parameters": model.parameters,
        "precision": model.precision,
        "context_length": model.context_length,
        "canvas_length": model.default_canvas_length,
        "canvas_lengths": list(model.canvas_lengths),
        "max_steps": model.max_steps,
        "default_steps": model.default_steps,
        "default_max_tokens": model.default_max_tokens,
        "tasks": list(model.tasks),
    }
