"""The official Python client of the OpenAI API, unchanged: errors, retries, and clients that leave."""

import asyncio
from collections.abc import Callable
from typing import Any

import openai
import pytest
from openai import OpenAI

from tests.clients.openai_site import PROMPT, TEXT, openai_site
from tests.clients.server import eventually, tell
from unmask.api.event_stream import StreamPace
from unmask.errors import QueueFullError, RetryLaterError
from unmask.testing.builders import make_generation
from unmask.testing.fake_backend import FakeBackend
from unmask.testing.scripted_backend import ScriptedBackend
from unmask.testing.speech import speak
from unmask.testing.waiting import until
from unmask.types import Outcome


def ask(client: OpenAI, **changes: Any) -> object:  # noqa: ANN401 - any field
    """Ask for an answer."""
    return client.chat.completions.create(**({"model": "tiny", "messages": PROMPT} | changes))


REFUSED: tuple[tuple[Callable[[OpenAI], object], type[openai.APIStatusError], int, str, str | None], ...] = (
    (lambda client: ask(client, n=0), openai.BadRequestError, 400, "invalid_value", "n"),
    (lambda client: ask(client, max_tokens=257), openai.BadRequestError, 400, "invalid_value", "max_tokens"),
    (lambda client: ask(client, messages=[]), openai.BadRequestError, 400, "invalid_value", "messages"),
    (lambda client: ask(client, store=True), openai.BadRequestError, 400, "unsupported_parameter", "store"),
    (
        lambda client: ask(client, tools=[{"type": "function", "function": {"name": "f"}}]),
        openai.BadRequestError,
        400,
        "unsupported_parameter",
        "tools",
    ),
    (lambda client: ask(client, extra_body={"top_a": 5}), openai.BadRequestError, 400, "unknown_parameter", "top_a"),
    (
        lambda client: ask(client, extra_headers={"origin": "https://elsewhere.example"}),
        openai.PermissionDeniedError,
        403,
        "origin_not_allowed",
        None,
    ),
    (lambda client: ask(client, model="gpt-5"), openai.NotFoundError, 404, "model_not_found", "model"),
    (lambda client: client.models.retrieve("gpt-5"), openai.NotFoundError, 404, "model_not_found", "model"),
    (
        lambda client: client.embeddings.create(model="tiny", input="x"),
        openai.NotFoundError,
        404,
        "unknown_path",
        None,
    ),
    (lambda client: client.responses.create(model="tiny", input="x"), openai.NotFoundError, 404, "unknown_path", None),
    (lambda client: client.models.delete("tiny"), openai.APIStatusError, 405, "method_not_allowed", None),
    (
        lambda client: ask(client, messages=[{"role": "user", "content": "x" * (1 << 20)}]),
        openai.APIStatusError,
        413,
        "body_too_large",
        None,
    ),
)


def test_what_is_refused_has_its_class() -> None:
    """A mistake is raised as the client's own kind of error, with the field at fault, and is never sent again."""
    calls: list[object] = []
    with openai_site(FakeBackend()) as on:
        http = openai.DefaultHttpxClient(event_hooks={"request": [calls.append]})
        with on.client.with_options(http_client=http, max_retries=2) as client:
            for refused, kind, status, code, param in REFUSED:
                calls.clear()
                with pytest.raises(kind) as caught:
                    refused(client)

                assert type(caught.value) is kind
                assert (caught.value.status_code, caught.value.code, caught.value.param) == (status, code, param)
                assert caught.value.request_id
                assert len(calls) == 1


@pytest.mark.parametrize(
    ("outcome", "status", "code"),
    [(Outcome.FAILED, 500, "generation_failed"), (Outcome.ABORTED, 503, "aborted")],
)
def test_failure_of_the_server_has_its_class(outcome: Outcome, status: int, code: str) -> None:
    """What is not the client's fault says so."""
    backend = FakeBackend(generation=make_generation("x", outcome=outcome, finish_reason=None, error="/secret"))
    with openai_site(backend) as on, pytest.raises(openai.InternalServerError) as caught:
        ask(on.client)

    assert (caught.value.status_code, caught.value.code) == (status, code)
    assert "/secret" not in caught.value.message


RETRIED = (
    (QueueFullError("full", retry_after_s=0.001), openai.RateLimitError),
    (RetryLaterError("not now", retry_after_s=0.001), openai.InternalServerError),
)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("error", [error for error, _ in RETRIED], ids=["429", "503"])
async def test_client_comes_back_when_it_is_told(error: Exception, stream: bool) -> None:
    """It sends its request again, as often as it may, and gets its answer."""
    backend = ScriptedBackend(lambda request, earlier: speak(request, TEXT) if earlier % 3 == 2 else [error])
    with openai_site(backend) as on:
        found: Any = ask(on.client.with_options(max_retries=2), stream=stream)
        text = (
            "".join(chunk.choices[0].delta.content or "" for chunk in found)
            if stream
            else found.choices[0].message.content
        )
        async with on.async_client as client:
            again = await client.with_options(max_retries=2).chat.completions.create(model="tiny", messages=PROMPT)

    assert text == again.choices[0].message.content == TEXT
    assert len(backend.requests) == 6


@pytest.mark.parametrize(("error", "kind"), RETRIED, ids=["429", "503"])
@pytest.mark.parametrize("retries", [0, 2])
def test_client_gives_up_after_its_retries(error: Exception, kind: type[openai.APIStatusError], retries: int) -> None:
    """As many times as it was told, and no more."""
    backend = ScriptedBackend(lambda *_: [error])
    with openai_site(backend) as on, pytest.raises(kind) as caught:
        ask(on.client.with_options(max_retries=retries), stream=True)

    assert type(caught.value) is kind
    assert len(backend.requests) == 1 + retries


async def test_failure_after_the_headers_is_raised() -> None:
    """Whoever iterates is told, sync and async, and keeps the text so far."""
    backend = ScriptedBackend(lambda request, _: [*speak(request, TEXT)[:2], QueueFullError("late")])
    with openai_site(backend) as on:
        seen: list[Any] = []
        with pytest.raises(openai.APIError, match="late") as caught:
            seen.extend(on.client.chat.completions.create(model="tiny", messages=PROMPT, stream=True))
        async with on.async_client as client:
            stream = await client.chat.completions.create(model="tiny", messages=PROMPT, stream=True)
            with pytest.raises(openai.APIError, match="late"):
                async for _ in stream:
                    pass

    assert "".join(chunk.choices[0].delta.content or "" for chunk in seen) == TEXT[:2]
    assert caught.value.code == "queue_full"
    assert caught.value.type == "rate_limit_error"


def test_comments_are_skipped() -> None:
    """Signs of life before the first canvas are none of the client's business."""
    backend = ScriptedBackend(lambda request, _: [0.05, *speak(request, TEXT)])
    with openai_site(backend, pace=StreamPace(comment_s=0.005)) as on:
        stream = on.client.chat.completions.create(model="tiny", messages=PROMPT, stream=True)
        text = "".join(chunk.choices[0].delta.content or "" for chunk in stream)

    assert text == TEXT


async def test_closing_a_stream_stops_it() -> None:
    """A client that has enough leaves nothing running, sync or async, however it leaves."""
    backend = ScriptedBackend(lambda request, _: [*speak(request, TEXT)[:-1], 3600.0])
    with openai_site(backend) as on:
        stream = on.client.chat.completions.create(model="tiny", messages=PROMPT, stream=True)
        next(stream)
        stream.close()
        eventually(lambda: backend.aborted == 1)
        with on.client.chat.completions.create(model="tiny", messages=PROMPT, stream=True) as entered:
            next(entered)
        eventually(lambda: backend.aborted == 2)
        async with on.async_client as client:
            async_stream = await client.chat.completions.create(model="tiny", messages=PROMPT, stream=True)
            await anext(async_stream)
            await async_stream.close()
        eventually(lambda: backend.aborted == 3)
        eventually(lambda: on.site.running.count == 0)

    assert backend.open == 0


@pytest.mark.parametrize("stream", [False, True])
async def test_client_that_waits_no_longer_stops_its_steps(stream: bool) -> None:
    """A client whose time is over hangs up, before the first byte or later, and so does one that is cancelled."""
    backend = ScriptedBackend(lambda *_: [3600.0])
    with openai_site(backend, pace=StreamPace(comment_s=3600)) as on:
        with pytest.raises(openai.APITimeoutError):
            ask(on.client.with_options(timeout=0.05), stream=stream)
        eventually(lambda: backend.aborted == 1)
        async with on.async_client as client:
            asking = asyncio.create_task(client.chat.completions.create(model="tiny", messages=PROMPT, stream=stream))
            await until(lambda: len(backend.requests) == 2)
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
        eventually(lambda: backend.aborted == 2)
        eventually(lambda: on.site.running.count == 0)

    assert backend.open == 0


def test_client_that_times_out_in_silence_is_missed() -> None:
    """Half an answer later a client that hears nothing gives up, and its steps with it."""
    backend = ScriptedBackend(lambda request, _: [*speak(request, TEXT)[:2], 3600.0])
    with openai_site(backend, pace=StreamPace(comment_s=3600)) as on:
        stream = on.client.with_options(timeout=0.05).chat.completions.create(
            model="tiny", messages=PROMPT, stream=True
        )
        with pytest.raises(openai.APITimeoutError):
            list(stream)
        eventually(lambda: backend.aborted == 1)


def test_draining_server_sends_the_client_elsewhere() -> None:
    """While a server finishes what runs, a new request is an error that the client may send again elsewhere."""
    gate = asyncio.Event()
    with openai_site(FakeBackend(gate=gate), pace=StreamPace(comment_s=0.01)) as on:
        stream = on.client.chat.completions.create(model="tiny", messages=PROMPT, stream=True)
        tell(on.site, on.site.server.stop)
        eventually(lambda: on.site.running.is_draining)
        with pytest.raises(openai.InternalServerError) as caught:
            ask(on.client)
        tell(on.site, gate.set)
        text = "".join(chunk.choices[0].delta.content or "" for chunk in stream)

    assert caught.value.code == "draining"
    assert text == "42"
