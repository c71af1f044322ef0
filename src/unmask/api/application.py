"""The HTTP application over a backend."""

import secrets
import time
import uuid
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

from fastapi import FastAPI
from prometheus_client import CollectorRegistry
from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from unmask.api.authentication import Authentication, TellsPrincipals
from unmask.api.body import body_limits
from unmask.api.cache import add_cache
from unmask.api.callers import KnownCallers
from unmask.api.catalogue import Catalogue
from unmask.api.chance import Chance
from unmask.api.chat_choice import CHAT_SHAPE
from unmask.api.chat_schema import ChatBody
from unmask.api.completion_schema import CompletionBody
from unmask.api.documented import (
    ChatCompletion,
    ChatCompletionChunk,
    ModelEntry,
    ModelList,
    TextCompletion,
    TextCompletionChunk,
)
from unmask.api.endpoint import GenerateEndpoint
from unmask.api.errors import MethodNotAllowedError, UnknownPathError, UnreadBodyError
from unmask.api.event_stream import StreamPace
from unmask.api.examples import CHAT_EXAMPLES, COMPLETION_EXAMPLES
from unmask.api.head import HeadAsGet
from unmask.api.measured import Measured
from unmask.api.meters import Meters, make_meters
from unmask.api.openapi import errors, path_parameter, request_body, with_request_schemas
from unmask.api.openapi_answers import answers, with_event_schemas, with_request_ids
from unmask.api.openapi_keys import with_keys
from unmask.api.probes import OPEN_PATHS, Probes, add_probes
from unmask.api.reading import read_chat, read_completion
from unmask.api.request_id import RequestIds
from unmask.api.responses import error_response
from unmask.api.running import Running
from unmask.api.savings import SavingsEndpoint, add_savings
from unmask.api.strangers import Strangers
from unmask.api.tenant import ShowsTenants, add_tenant
from unmask.api.text_choice import TEXT_SHAPE
from unmask.api.traced import Traced
from unmask.backend import Backend, ModelInfo
from unmask.clock import SystemClock
from unmask.config import Settings
from unmask.control.accounts import Accounts
from unmask.control.cached import CachedAnswers
from unmask.control.controller import Controller
from unmask.control.parts import ControlParts
from unmask.control.pressure import Pressure
from unmask.control.quality_desk import QualityDesk
from unmask.control.searching import SearchParts
from unmask.errors import UnmaskError
from unmask.metrics.control import PolicyCollector
from unmask.metrics.measured import MeasuredBackend
from unmask.metrics.quality import QualityCollector
from unmask.metrics.savings import SavingsCollector
from unmask.metrics.traced import TracedBackend
from unmask.metrics.tracing import Tracing

SEED_BITS = 63


class KeyDesk(TellsPrincipals, ShowsTenants, Protocol):
    """Knows keys, and the tenants that they are of."""


class _Application(FastAPI):
    """A FastAPI whose document also holds the request schemas."""

    def __init__(self, models: tuple[ModelInfo, ...], *, has_keys: bool, **fields: Any) -> None:  # noqa: ANN401 - passed on
        super().__init__(**fields)
        # Events of a stream are described by `itemSchema`, which no earlier version has.
        self.openapi_version = "3.2.0"
        self._models = models
        self._has_keys = has_keys

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            document = with_request_ids(with_request_schemas(super().openapi(), self._models))
            document = with_event_schemas(document, ChatCompletionChunk, TextCompletionChunk)
            self.openapi_schema = with_keys(document, OPEN_PATHS) if self._has_keys else document
        return self.openapi_schema


def system_chance() -> Chance:
    """Return ids, seeds and time as the machine gives them."""
    return Chance(
        new_id=lambda: uuid.uuid4().hex,
        draw_seed=lambda: secrets.randbits(SEED_BITS),
        now=time.time,
        clock=SystemClock(),
    )


def create_app(  # noqa: PLR0913 - each is a part that the composition root chooses
    backend: Backend,
    settings: Settings,
    running: Running,
    chance: Chance,
    *,
    parts: ControlParts | None = None,
    keys: KeyDesk | None = None,
    registry: CollectorRegistry | None = None,
    pace: StreamPace | None = None,
    tracing: Tracing | None = None,
) -> FastAPI:
    """Build the application; it holds no state beyond its arguments and what it has counted.

    Args:
        backend: serves the requests.
        settings: limits of what is taken.
        running: requests in flight, shared with whoever stops the server.
        chance: what differs from call to call.
        parts: what budgets are given by; by default they are fixed.
        keys: tells who makes a request; without them no key is asked for, and web pages are kept off instead.
        registry: where the metrics go; by default one of the application's own.
        pace: how long streams may be silent, or wait for a reader.
        tracing: where spans of requests go; by default there are none.
    """
    parts = parts or ControlParts()
    kept = None if parts.cache is None else parts.cache.cache
    meters = make_meters(backend, running, registry or CollectorRegistry(), kept)
    served = backend if tracing is None else TracedBackend(backend, tracing)
    measured = MeasuredBackend(served, meters.generations, chance.clock)
    control = _controller(backend, settings, chance, parts, meters)
    app = _Application(
        backend.models(),
        has_keys=keys is not None,
        title="unmask",
        summary="Serve diffusion language models on a step budget.",
        version="1",
        # The pages these would serve load scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    if keys is None:
        app.add_middleware(KnownCallers, allowed=settings.allowed_hosts)
    else:
        strangers = Strangers(settings.wrong_key_limit, chance.clock)
        app.add_middleware(Authentication, authenticator=keys, strangers=strangers, open_paths=OPEN_PATHS)
    app.add_middleware(RequestIds, new_id=chance.new_id)
    # The one added last is the outermost: what those within it answer is counted as well.
    if tracing is not None:
        app.add_middleware(Traced, tracing=tracing)
    app.add_middleware(Measured, instruments=meters.http, clock=chance.clock)
    app.add_middleware(HeadAsGet)
    app.add_exception_handler(UnmaskError, _answer_error)
    app.add_exception_handler(HTTPException, _answer_routing_error)
    chat = GenerateEndpoint(
        backend=measured,
        running=running,
        control=control,
        instruments=meters.generations,
        chance=chance,
        body_limits=body_limits(settings),
        read=partial(read_chat, backend=backend, routes=parts.routes, draw_seed=chance.draw_seed),
        shape=CHAT_SHAPE,
        pace=pace or StreamPace(stalled_s=settings.write_timeout_s),
        accounts=Accounts(parts.ledger, chance.clock, meters.refusals.ended),
    )
    read_text = partial(read_completion, backend=backend, routes=parts.routes, draw_seed=chance.draw_seed)
    _add_generating(app, chat, replace(chat, read=read_text, shape=TEXT_SHAPE))
    _add_catalogue(app, Catalogue(backend=backend, control=control, started=int(chance.now())))
    add_savings(app, SavingsEndpoint(standings=lambda: control.savings(backend.models())))
    add_probes(app, Probes(backend=backend, running=running, control=control, registry=meters.registry))
    if kept is not None:
        add_cache(app, kept.store)
    if keys is not None:
        add_tenant(app, keys)
    return app


def _controller(
    backend: Backend, settings: Settings, chance: Chance, parts: ControlParts, meters: Meters
) -> Controller:
    quality = QualityDesk(backend.load, chance.clock, lowest=settings.quality_floor)
    control = Controller(
        parts,
        meters.control,
        now=chance.now,
        new_id=chance.new_id,
        tiers=dict(pair.split("=", maxsplit=1) for pair in settings.tiers),
        cached=None if parts.cache is None else CachedAnswers(parts.cache, meters.cache, chance.clock, chance.now),
        searches=SearchParts(
            clock=chance.clock,
            desk=parts.reward,
            pressure=Pressure(backend.load, quality.width),
            instruments=meters.searches,
        ),
        quality=quality,
    )
    PolicyCollector(meters.registry, lambda: control.policy_names(backend.models()))
    SavingsCollector(meters.registry, lambda: control.savings(backend.models()))
    QualityCollector(meters.registry, quality.standings)
    return control


def _add_generating(app: FastAPI, chat: GenerateEndpoint, text: GenerateEndpoint) -> None:
    refused = errors(400, 401, 403, 404, 408, 409, 413, 415, 422, 429, 500, 503)
    models = chat.backend.models()
    app.post(
        "/v1/chat/completions",
        summary="Answer a chat",
        responses={**answers(ChatCompletion, ChatCompletionChunk), **refused},
        openapi_extra=request_body(ChatBody, CHAT_EXAMPLES, models),
    )(chat.answer)
    app.post(
        "/v1/completions",
        summary="Answer a prompt",
        responses={**answers(TextCompletion, TextCompletionChunk), **refused},
        openapi_extra=request_body(CompletionBody, COMPLETION_EXAMPLES, models),
    )(text.answer)


def _add_catalogue(app: FastAPI, catalogue: Catalogue) -> None:
    app.get("/v1/models", summary="List the models", responses={200: {"model": ModelList}})(catalogue.models)
    app.get(
        "/v1/models/{model_id:path}",
        summary="Show a model",
        responses={200: {"model": ModelEntry}, **errors(404)},
        openapi_extra=path_parameter("model_id", "Name of a served model; it may hold slashes."),
    )(catalogue.model)


async def _answer_error(_: HttpRequest, error: Exception) -> Response:
    assert isinstance(error, UnmaskError), "registered for these alone"
    headers = {"connection": "close"} if isinstance(error, UnreadBodyError) else None
    return error_response(error, headers=headers)


async def _answer_routing_error(http: HttpRequest, error: Exception) -> Response:
    assert isinstance(error, HTTPException), "registered for these alone"
    path = f"{http.method} {http.scope['path'][:120]}"
    match error.status_code:
        case 404:
            return error_response(UnknownPathError(f"{path} is no endpoint. GET /openapi.json lists them."))
        case 405:
            headers = error.headers or {}
            message = f"{path} is not allowed. Use {', '.join(headers.values())}."
            return error_response(MethodNotAllowedError(message), headers=headers)
        case _:
            return error_response(UnmaskError(f"{path}: {error.detail}"))
