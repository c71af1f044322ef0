"""The endpoints that say what is served."""

from dataclasses import dataclass

from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from unmask.api.authentication import principal_of_request
from unmask.api.reading import find_model
from unmask.api.responses import json_response
from unmask.backend import Backend, ModelInfo
from unmask.control.controller import Controller
from unmask.control.route import Route
from unmask.control.sources import FIXED_POLICY, ActivePolicy
from unmask.control.task_of import known_tasks
from unmask.control.tiers import usable_classes


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """Answers what is served."""

    backend: Backend
    control: Controller
    started: int

    async def models(self, http: HttpRequest) -> Response:
        """List the served models."""
        served = (*self.backend.models(), *self.control.routes.models)
        entries = [self._entry(model, http) for model in served]
        return json_response({"object": "list", "data": entries})

    async def model(self, http: HttpRequest) -> Response:
        """Show one model."""
        return json_response(
            self._entry(find_model(self.backend, self.control.routes, http.path_params["model_id"]), http)
        )

    def _entry(self, model: ModelInfo, http: HttpRequest) -> dict[str, object]:
        principal = principal_of_request(http)
        allowed = None if principal is None else principal.classes
        entry = model_entry(model, self.control.policy_of(model), self.started, allowed)
        route = self.control.routes.named(model.name)
        return entry if route is None else {**entry, "route": route_entry(route)}


def route_entry(route: Route) -> dict[str, object]:
    """Write which models serve a route, and what chooses between them."""
    return {
        "small": route.small_name,
        "large": route.large.name,
        "is_small_loaded": route.small is not None,
        "fit": None if route.fit is None else route.fit.digest,
        "threshold": route.threshold,
    }


def model_entry(
    model: ModelInfo, active: ActivePolicy | None, created: int, allowed: tuple[str, ...] | None = None
) -> dict[str, object]:
    """Write an entry of the model list with what a client may ask of the model, and of its policy.

    Args:
        model: which one.
        active: the policy in force for it.
        created: seconds since 1970.
        allowed: service classes that the client may use; ``None`` for all.
    """
    return {
        "id": model.name,
        "object": "model",
        "created": created,
        "owned_by": "unmask",
        "digest": model.digest,
        "parameters": model.parameters,
        "precision": model.precision,
        "precisions": list(model.precisions),
        "approximate_cache": None if model.approximate is None else model.approximate.cache,
        "approximate_cache_refresh": None if model.approximate is None else model.approximate.refresh,
        "context_length": model.context_length,
        "canvas_length": model.default_canvas_length,
        "canvas_lengths": list(model.canvas_lengths),
        "max_steps": model.max_steps,
        "default_steps": model.default_steps,
        "default_max_tokens": model.default_max_tokens,
        "levers": [lever.value for lever in model.levers],
        "tasks": list(known_tasks(model, active)),
        "service_classes": [] if active is None else list(usable_classes(active, allowed)),
        "policy": FIXED_POLICY if active is None else active.short_digest,
    }
