"""The application under test and a client of it, in process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

import httpx
from fastapi import FastAPI
from prometheus_client import CollectorRegistry

from unmask.api.application import KeyDesk, create_app
from unmask.api.chance import Chance
from unmask.api.event_stream import StreamPace
from unmask.api.running import Running
from unmask.backend import Backend
from unmask.clock import Clock
from unmask.config import Settings
from unmask.control.parts import ControlParts
from unmask.metrics.tracing import Tracing
from unmask.testing.fake_backend import FakeBackend
from unmask.testing.manual_clock import ManualClock

CHAT = "/v1/chat/completions"
COMPLETIONS = "/v1/completions"
NOW = 1_700_000_000.5
DRAWN_SEED = 77


def fixed_chance(clock: Clock | None = None) -> Chance:
    """Return ids that count, one seed and a time that stands still."""
    numbers = count(1)
    return Chance(
        new_id=lambda: str(next(numbers)), draw_seed=lambda: DRAWN_SEED, now=lambda: NOW, clock=clock or ManualClock()
    )


def make_app(
    backend: Backend | None = None,
    *,
    parts: ControlParts | None = None,
    keys: KeyDesk | None = None,
    settings: Settings | None = None,
    running: Running | None = None,
    registry: CollectorRegistry | None = None,
    clock: Clock | None = None,
    pace: StreamPace | None = None,
    tracing: Tracing | None = None,
) -> FastAPI:
    """Build the application over a fake, with settings of the test's choice."""
    return create_app(
        backend or FakeBackend(),
        settings or Settings(),
        running or Running(100),
        fixed_chance(clock),
        parts=parts,
        keys=keys,
        registry=registry,
        pace=pace,
        tracing=tracing,
    )


@asynccontextmanager
async def client_of(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """Open a client of the application."""
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
        yield client


def chat_body(**changes: Any) -> dict[str, Any]:  # noqa: ANN401 - any field, of any type
    """Return a valid body with some fields changed."""
    return {"model": "tiny", "messages": [{"role": "user", "content": "add 12 + 30"}]} | changes


def completion_body(**changes: Any) -> dict[str, Any]:  # noqa: ANN401 - any field, of any type
    """Return a valid body of the older endpoint with some fields changed."""
    return {"model": "tiny", "prompt": "add 12 + 30"} | changes


def json_schema(schema: object, **changes: object) -> dict[str, Any]:
    """Return the field that asks for an answer of a schema."""
    named = {"name": "sum", "schema": schema} | changes
    return {"response_format": {"type": "json_schema", "json_schema": named}}


def user(content: object, **changes: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - any field, of any type
    """Return a chat of one user message."""
    return [{"role": "user", "content": content, **changes}]


async def post_chat(backend: Backend | None = None, **changes: Any) -> httpx.Response:  # noqa: ANN401 - as above
    """Send one chat request to a new application."""
    async with client_of(make_app(backend)) as client:
        return await client.post(CHAT, json=chat_body(**changes))
