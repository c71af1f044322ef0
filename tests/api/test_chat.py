"""Behaviour of ``POST /v1/chat/completions``."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator

import httpx
import pytest

from tests.api.client import CHAT, NOW, chat_body, client_of, make_app, post_chat, user
from tests.api.raw_client import RawClient
from unmask.api.running import Running
from unmask.config import Settings
from unmask.errors import ContextLengthError, QueueFullError, WeightsError
from unmask.testing.builders import make_generation, make_model, make_usage
from unmask.testing.fake_backend import FakeBackend
from unmask.testing.waiting import until
from unmask.types import ExitReason, FinishReason, Outcome


def error_of(response: httpx.Response) -> dict[str, str]:
    """Return the fields of an error body."""
    error = response.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    return dict(error)


async def test_answer_is_a_chat_completion() -> None:
    """The answer has the fields of the OpenAI API, and the steps it took."""
    usage = make_usage(prompt_tokens=7, completion_tokens=9, cached_tokens=5, steps_used=4, canvases=2)
    generation = make_generation("42", finish_reason=FinishReason.LENGTH, usage=usage)
    response = await post_chat(FakeBackend(generation=generation))

    assert response.status_code == 200
    assert response.headers["content-type"] == "application/json"
    assert response.headers["x-unmask-steps"] == "4"
    assert response.json() == {
        "id": "chatcmpl-2",
        "object": "chat.completion",
        "created": int(NOW),
        "model": "tiny",
        "system_fingerprint": make_model().digest,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "42", "refusal": None},
                "logprobs": None,
                "finish_reason": "length",
            }
        ],
        "usage": {
            "prompt_tokens": 7,
            "completion_tokens": 9,
            "total_tokens": 16,
            "prompt_tokens_details": {"cached_tokens": 5},
            "diffusion": {
                "steps_allocated": 16,
                "steps_used": 4,
                "steps_known": True,
                "steps_estimated": False,
                "cap_ignored": False,
                "tokens_known": True,
                "prompt_tokens_saved": 0,
                "canvases": 2,
                "drafted": 0,
                "accepted": 0,
                "accepted_per_round": 0.0,
                "tokens_per_step": 2.25,
                "exit_reason": "converged",
                "verify": "skipped",
                "reexpansions": 0,
                "steps_reexpansion": 0,
                "steps_verify": 0,
                "steps_search": 0,
                "search": None,
                "cap_applied": None,
                "bucket": None,
                "policy": "fixed",
                "task": "default",
                "service_class": None,
                "difficulty": None,
                "budget_source": "model",
                "precision": "float32",
                "control": False,
                "cache": None,
                "approximate_cache": None,
                "quality_level": 0,
            },
        },
    }


async def test_request_reaches_the_backend() -> None:
    """The backend is asked for the model that the body names."""
    backend = FakeBackend()
    await post_chat(backend, model="nano", messages=user("sort 3 1 2"))

    (request,) = backend.requests
    assert (request.model, request.messages[0].content) == ("nano", "sort 3 1 2")


async def test_hangul_goes_through_both_ways() -> None:
    """Text outside ASCII reaches the backend and comes back as it is."""
    backend = FakeBackend(lambda request: f"답: {request.messages[0].content}")
    response = await post_chat(backend, messages=user("안녕하세요 한글"))

    assert response.json()["choices"][0]["message"]["content"] == "답: 안녕하세요 한글"
    assert "답: 안녕하세요 한글".encode() in response.content


async def test_special_tokens_typed_by_a_user_are_text() -> None:
    """Nothing in a message is taken for a token by its looks."""
    backend = FakeBackend()
    await post_chat(backend, messages=user("say <mask> <eos>"))

    assert backend.requests[0].messages[0].content == "say <mask> <eos>"


async def test_unknown_model_is_404() -> None:
    """A model that is not served is not found, whatever else is asked of it."""
    response = await post_chat(model="no-such", diffusion={"max_steps": 10_000})

    assert response.status_code == 404
    assert error_of(response)["param"] == "model"


@pytest.mark.parametrize(
    "raw",
    [
        b'{"model": "tiny", ',
        b"[1, 2]",
        b"\xff",
        b'{"model":"tiny","model":"nano"}',
        b"",
        b'{"model":"tiny","messages":[{"role":"user","content":"add \xff"}]}',
        b'{"model":"tiny","messages":[{"role":"user","content":"add \xed\xa0\x80"}]}',
        b'{"model":"tiny","messages":[{"role":"user","content":"add \\ud800"}]}',
        b'{"model":"tiny","messages":[{"role":"user","content":"add \\udc00\\ud800"}]}',
        b'{"model":"tiny","messages":[{"role":"user","content":"add"}],"metadata":{"\\ud800":""}}',
    ],
)
async def test_malformed_body_is_400(raw: bytes) -> None:
    """What is not one JSON object of whole characters never reaches the backend."""
    backend = FakeBackend()
    async with client_of(make_app(backend)) as client:
        response = await client.post(CHAT, content=raw)

    assert response.status_code == 400
    assert error_of(response)["code"] == "invalid_json"
    assert backend.requests == []


async def test_long_body_is_413() -> None:
    """A body beyond the limit is refused, with or without a declared length."""

    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(20):
            yield b" " * 100

    async with client_of(make_app(settings=Settings(max_body_bytes=1024))) as client:
        declared = await client.post(CHAT, json=chat_body(user="x" * 1024))
        chunked = await client.post(CHAT, content=pieces())

    assert (declared.status_code, chunked.status_code) == (413, 413)
    assert "1024 bytes" in error_of(chunked)["message"]


async def test_deep_body_is_400() -> None:
    """Nesting without end is refused, not recursed into."""
    deep = '{"a":' * 900 + "1" + "}" * 900
    async with client_of(make_app()) as client:
        response = await client.post(CHAT, content=f'{{"model": "tiny", "messages": {deep}}}')

    assert response.status_code == 400


async def test_huge_number_is_400() -> None:
    """A number beyond any integer type is refused by its field."""
    async with client_of(make_app()) as client:
        response = await client.post(CHAT, content='{"model":"tiny","messages":[],"seed":' + "9" * 300 + "}")

    assert response.status_code == 400


@pytest.mark.parametrize(
    ("error", "status", "param"),
    [
        (ContextLengthError(500, 10, 256), 400, "messages"),
        (QueueFullError("full", retry_after_s=2), 429, None),
        (WeightsError("broken"), 500, None),
    ],
)
async def test_backends_error_becomes_its_status(error: Exception, status: int, param: str | None) -> None:
    """What a backend raises is answered by the table."""
    response = await post_chat(FakeBackend(error=error))

    assert response.status_code == status
    assert error_of(response)["param"] == param


@pytest.mark.parametrize(
    ("outcome", "exit_reason", "status"),
    [(Outcome.FAILED, ExitReason.FAILED, 500), (Outcome.ABORTED, ExitReason.ABORTED, 503)],
)
async def test_unfinished_generation_is_an_error(outcome: Outcome, exit_reason: ExitReason, status: int) -> None:
    """Half a text is never sent as an answer."""
    usage = make_usage(exit_reason=exit_reason)
    generation = make_generation("half", outcome=outcome, finish_reason=None, usage=usage, error="/secret/path")
    response = await post_chat(FakeBackend(generation=generation))

    assert response.status_code == status
    assert "half" not in response.text
    assert "/secret/path" not in response.text


async def test_unforeseen_error_is_a_plain_500(caplog: pytest.LogCaptureFixture) -> None:
    """The client learns an id, the log the cause, and the connection lives on."""
    with caplog.at_level(logging.ERROR):
        response = await post_chat(FakeBackend(error=ZeroDivisionError("secret")))

    assert response.status_code == 500
    assert error_of(response)["type"] == "server_error"
    assert response.headers["x-request-id"] in response.json()["error"]["message"]
    assert "secret" not in response.text
    assert "secret" in caplog.text


async def test_draining_server_takes_nothing_new() -> None:
    """From the start of a drain requests are 503 and never reach the backend."""
    backend, running = FakeBackend(), Running(10)
    running.begin_drain()
    async with client_of(make_app(backend, running=running)) as client:
        response = await client.post(CHAT, json=chat_body())

    assert response.status_code == 503
    assert error_of(response)["code"] == "draining"
    assert backend.requests == []


async def test_full_server_is_429() -> None:
    """With as many in flight as may be, the next one is told to come back."""
    gate = asyncio.Event()
    backend = FakeBackend(gate=gate)
    async with client_of(make_app(backend, running=Running(2))) as client:
        first = [asyncio.create_task(client.post(CHAT, json=chat_body())) for _ in range(2)]
        await until(lambda: len(backend.requests) == 2)
        refused = await client.post(CHAT, json=chat_body())
        gate.set()
        answered = await asyncio.gather(*first)
        later = await client.post(CHAT, json=chat_body())

    assert refused.status_code == 429
    assert refused.headers["retry-after"] == "1"
    assert [response.status_code for response in (*answered, later)] == [200, 200, 200]


async def test_slow_bodies_do_not_pass_the_limit() -> None:
    """Requests that all arrive before any of their bodies has are counted once they would run."""
    backend, rest = FakeBackend(gate=asyncio.Event()), asyncio.Event()

    async def slow() -> AsyncIterator[bytes]:
        body = json.dumps(chat_body()).encode()
        yield body[:10]
        await rest.wait()
        yield body[10:]

    app = make_app(backend, running=Running(2))
    async with client_of(app) as client:
        calls = [asyncio.create_task(client.post(CHAT, content=slow())) for _ in range(5)]
        await asyncio.sleep(0.01)
        rest.set()
        await until(lambda: sum(call.done() for call in calls) == 3)
        assert len(backend.requests) == 2
        assert backend._gate is not None
        backend._gate.set()
        responses = await asyncio.gather(*calls)

    assert sorted(response.status_code for response in responses) == [200, 200, 429, 429, 429]


async def test_cut_off_request_is_503() -> None:
    """A request that the server will not wait for is stopped and says so."""
    backend, running = FakeBackend(gate=asyncio.Event()), Running(10)
    async with client_of(make_app(backend, running=running)) as client:
        pending = asyncio.create_task(client.post(CHAT, json=chat_body()))
        await until(lambda: bool(backend.requests))
        assert running.cut_off() == 1
        response = await pending

    assert response.status_code == 503
    assert error_of(response)["code"] == "aborted"
    assert len(backend.aborted) == 1


async def test_hanging_up_cancels_the_generation() -> None:
    """A client that leaves frees its place at once; nothing is generated for nobody."""
    backend, running = FakeBackend(gate=asyncio.Event()), Running(1)
    wire = RawClient(json.dumps(chat_body()).encode())
    calling = asyncio.create_task(wire.call(make_app(backend, running=running)))
    await until(lambda: bool(backend.requests))
    running_before = list(backend.aborted)
    wire.hung_up.set()
    async with asyncio.timeout(5):
        await calling

    assert running_before == []
    assert backend.aborted == backend.requests
    running.check()


async def test_cancelled_handler_cancels_the_generation() -> None:
    """A server that gives up on a request takes its generation along."""
    backend = FakeBackend(gate=asyncio.Event())
    wire = RawClient(json.dumps(chat_body()).encode())
    calling = asyncio.create_task(wire.call(make_app(backend)))
    await until(lambda: bool(backend.requests))
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling

    assert backend.aborted == backend.requests


async def test_concurrent_requests_get_their_own_answers() -> None:
    """Answers are never mixed up."""
    backend = FakeBackend(lambda request: request.messages[0].content[::-1])
    prompts = [f"prompt {number}" for number in range(20)]
    async with client_of(make_app(backend)) as client:
        responses = await asyncio.gather(*(client.post(CHAT, json=chat_body(messages=user(p))) for p in prompts))

    assert [r.json()["choices"][0]["message"]["content"] for r in responses] == [p[::-1] for p in prompts]
