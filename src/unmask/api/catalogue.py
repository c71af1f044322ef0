"""The endpoints that say what is served."""

from dataclasses import dataclass

from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from unmask.api.reading import find_model
from unmask.api.responses import json_response
from unmask.backend import Backend, ModelInfo
from unmask.control.controller import Controller, known_tasks
from unmask.control.sources import FIXED_POLICY, ActivePolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """Answers what is served."""

    backend: Backend
    control: Controller
    started: int

    async def models(self) -> Response:
        """List the served models."""
        entries = [self._entry(model) for model in self.backend.models()]
        return json_response({"object": "list", "data": entries})

    async def model(self, http: HttpRequest) -> Response:
        """Show one model."""
        return json_response(self._entry(find_model(self.backend, http.path_params["model_id"])))

    def _entry(self, model: ModelInfo) -> dict[str, object]:
        return model_entry(model, self.control.policy_of(model), self.started)


def model_entry(model: ModelInfo, active: ActivePolicy | None, created: int) -> dict[str, object]:
    """Write an entry of the model list with what a client may ask of the model, and of its policy."""
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
        "tasks": list(known_tasks(model, active)),
        "service_classes": [] if active is None else list(active.class_names),
        "policy": FIXED_POLICY if active is None else active.short_digest,
    }
