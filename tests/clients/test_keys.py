"""The official Python client of the OpenAI API, unchanged, where keys and limits are."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import openai
import pytest
from openai import AsyncOpenAI
from starlette.types import ASGIApp, Receive, Scope, Send

from tests.api.client import make_app
from tests.clients.openai_site import PROMPT
from unmask.api.responses import error_response
from unmask.ledger.errors import LimitExceededError
from unmask.ledger.limit import Limit, LimitKind
from unmask.tenants.role import KeyRole
from unmask.testing.tenants import FakeAuthenticator, make_principal

KEYS = FakeAuthenticator({role.value: make_principal(role) for role in KeyRole})


@asynccontextmanager
async def client_of(app: ASGIApp, key: str) -> AsyncIterator[AsyncOpenAI]:
    """Open a client with a key, which tries three times as it does unless told otherwise."""
    # Versions of the client differ in whose type they ask for here, and take either.
    transport: Any = httpx.AsyncClient(transport=httpx.ASGITransport(app))
    async with AsyncOpenAI(base_url="http://gpu.example/v1", api_key=key, http_client=transport) as client:
        yield client


async def ask(client: AsyncOpenAI) -> str | None:
    """Return an answer."""
    answer = await client.chat.completions.create(model="tiny", messages=PROMPT)
    return answer.choices[0].message.content


async def test_a_key_is_sent_as_the_client_sends_it() -> None:
    """Nothing has to be set beside it."""
    async with client_of(make_app(keys=KEYS), "inference") as client:
        assert await ask(client)
        assert [model.id for model in (await client.models.list()).data] == ["tiny", "nano"]


@pytest.mark.parametrize(
    ("key", "kind", "code"),
    [
        ("unknown", openai.AuthenticationError, "invalid_api_key"),
        ("operator", openai.PermissionDeniedError, "insufficient_permissions"),
    ],
)
async def test_refusals_are_the_clients_own_errors(key: str, kind: type[openai.APIStatusError], code: str) -> None:
    """As those of the OpenAI API are."""
    async with client_of(make_app(keys=KEYS), key) as client:
        with pytest.raises(kind) as caught:
            await ask(client)

    assert caught.value.code == code


@pytest.mark.parametrize(
    ("kind", "asked", "calls", "code"),
    [
        (LimitKind.REQUESTS, 1, 3, "rate_limit_exceeded"),
        (LimitKind.COST, 1, 1, "insufficient_quota"),
        (LimitKind.STEPS, 11, 1, "insufficient_quota"),
    ],
)
async def test_a_spent_budget_is_not_tried_again(kind: LimitKind, asked: int, calls: int, code: str) -> None:
    """A rate that is too high is, after as long as the answer says."""
    limit = Limit(scope="key:a", kind=kind, window_s=60, amount=10)
    seen = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope["path"])
        error = LimitExceededError(limit, used=10, asked=asked, retry_after_s=0.001)
        await error_response(error)(scope, receive, send)

    async with client_of(app, "any") as client:
        with pytest.raises(openai.RateLimitError) as caught:
            await ask(client)

    assert (len(seen), caught.value.code) == (calls, code)
