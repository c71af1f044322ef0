"""The endpoints that say what is served."""

from dataclasses import dataclass

from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from unmask.api.answer import model_entry
from unmask.api.chat import find_model
from unmask.api.responses import json_response
from unmask.backend import Backend


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
