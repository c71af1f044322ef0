"""The HTTP application over a backend."""

import secrets
import time
import uuid
from typing import Any

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from unmask.api.catalogue import Catalogue
from unmask.api.chat import Chance, ChatEndpoint
from unmask.api.chat_schema import ChatBody
from unmask.api.documented import ChatCompletion, Health, ModelEntry, ModelList
from unmask.api.errors import MethodNotAllowedError, UnknownPathError
from unmask.api.examples import CHAT_EXAMPLES
from unmask.api.openapi import errors, request_body, with_request_schemas
from unmask.api.request_id import RequestIds
from unmask.api.responses import error_response
from unmask.api.running import Running
from unmask.backend import Backend, ModelInfo
from unmask.config import Settings
from unmask.errors import UnmaskError

SEED_BITS = 63


class _Application(FastAPI):
    """A FastAPI whose document also holds the request schemas."""

    def __init__(self, models: tuple[ModelInfo, ...], **fields: Any) -> None:  # noqa: ANN401 - passed on
        super().__init__(**fields)
        self._models = models

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            self.openapi_schema = with_request_schemas(super().openapi(), self._models)
        return self.openapi_schema


def system_chance() -> Chance:
    """Return ids, seeds and time as the machine gives them."""
    return Chance(new_id=lambda: uuid.uuid4().hex, draw_seed=lambda: secrets.randbits(SEED_BITS), now=time.time)


def create_app(backend: Backend, settings: Settings, running: Running, chance: Chance) -> FastAPI:
    """Build the application; it holds no state beyond its arguments."""
    app = _Application(
        backend.models(),
        title="unmask",
        summary="Serve diffusion language models on a step budget.",
        version="1",
        # The pages these would serve load scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.add_middleware(RequestIds, new_id=chance.new_id)
    app.add_exception_handler(UnmaskError, _answer_error)
    app.add_exception_handler(HTTPException, _answer_routing_error)
    chat = ChatEndpoint(backend=backend, running=running, max_body_bytes=settings.max_body_bytes, chance=chance)
    _add_routes(app, chat, Catalogue(backend=backend, running=running, started=int(chance.now())))
    return app


def _add_routes(app: FastAPI, chat: ChatEndpoint, catalogue: Catalogue) -> None:
    app.post(
        "/v1/chat/completions",
        summary="Answer a chat",
        responses={200: {"model": ChatCompletion}, **errors(400, 404, 413, 429, 500, 503)},
        openapi_extra=request_body(ChatBody, CHAT_EXAMPLES),
    )(chat.answer)
    app.get("/v1/models", summary="List the models", responses={200: {"model": ModelList}})(catalogue.models)
    app.get(
        "/v1/models/{model_id:path}",
        summary="Show a model",
        responses={200: {"model": ModelEntry}, **errors(404)},
    )(catalogue.model)
    app.get(
        "/health",
        summary="Say whether requests are taken",
        responses={200: {"model": Health}, 503: {"model": Health}},
    )(catalogue.health)


async def _answer_error(_: HttpRequest, error: Exception) -> Response:
    assert isinstance(error, UnmaskError), "registered for these alone"
    return error_response(error)


async def _answer_routing_error(http: HttpRequest, error: Exception) -> Response:
    assert isinstance(error, HTTPException), "registered for these alone"
    path = f"{http.method} {http.url.path[:120]}"
    match error.status_code:
        case 404:
            return error_response(UnknownPathError(f"{path} is no endpoint. GET /openapi.json lists them."))
        case 405:
            headers = error.headers or {}
            message = f"{path} is not allowed. Use {', '.join(headers.values())}."
            return error_response(MethodNotAllowedError(message), headers=headers)
        case _:
            return error_response(UnmaskError(f"{path}: {error.detail}"))
