"""Behaviour of streams, as clients see them."""

import asyncio
import json
import logging
from collections.abc import Callable, Sequence
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.api.calls import CHAT_CALLS, PATHS, TEXT_CALLS, app_of, make_call
from tests.api.client import CHAT, COMPLETIONS, chat_body, client_of, completion_body, make_app, user
from tests.api.raw_client import RawClient
from tests.api.sse_events import SseStream, parse_stream
from unmask.api.call import Call, Delivery
from unmask.api.event_stream import StreamPace
from unmask.api.running import Running
from unmask.backend import Backend, CommitEvent, DoneEvent, Event, Request
from unmask.control.asked import Asked
from unmask.errors import ContextLengthError, QueueFullError, UnknownModelError
from unmask.testing.builders import make_generation, make_usage
from unmask.testing.scripted_backend import Line, ScriptedBackend
from unmask.testing.speech import STEPS, speak
from unmask.testing.waiting import until
from unmask.types import Bucket, ExitReason, Outcome, Verification

SCRIPTS = "한글 ありがとう مرحبا नमस्ते 👩‍👩‍👧 🇰🇷 e\u0301 \u2028\u2029\u0085\r\n\t\x00\x1e plain"
TEXT = "안녕, 세계 🙂!"


def speaker(text: str = TEXT, *, sizes: Sequence[int] = (1,), canvas: int = 4) -> ScriptedBackend:
    """Return a backend that gives every choice its own text."""
    return ScriptedBackend(
        lambda request, _: speak(request, f"{request.sampling.seed}: {text}", sizes=sizes, canvas=canvas)
    )


async def post(backend: Backend, call: Call, path: str = CHAT_CALLS, **options: Any) -> httpx.Response:  # noqa: ANN401 - as `app_of` takes them
    """Send one request that is read as a call."""
    async with client_of(app_of(backend, call, **options)) as client:
        return await client.post(path, json={})


async def stream(backend: Backend, call: Call, path: str = CHAT_CALLS) -> SseStream:
    """Return the events of a call that goes well."""
    response = await post(backend, call, path)
    assert response.status_code == 200, response.text
    return parse_stream(response.content)


async def test_stream_of_a_chat() -> None:
    """A role, a piece for each canvas, a reason to end, and the mark of success; all of one answer."""
    found = await stream(speaker("안녕"), make_call(delivery=Delivery.COMMITTED))

    common = {key: value for key, value in found.chunks[0].items() if key != "choices"}
    assert common == {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1_700_000_000,
        "model": "tiny",
        "system_fingerprint": "0123456789abcdef",
    }
    assert all(common.items() <= chunk.items() and len(chunk) == 6 for chunk in found.chunks)
    parts = [
        ({"role": "assistant", "content": "", "refusal": None}, None),
        ({"content": "0: "}, None),
        ({"content": "안"}, None),
        ({"content": "녕"}, None),
        ({}, "stop"),
    ]
    assert [chunk["choices"] for chunk in found.chunks] == [
        [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}] for delta, reason in parts
    ]
    assert found.done


async def test_stream_of_a_completion() -> None:
    """An echo, a piece for each canvas, a reason to end."""
    call = make_call(["say "], echoes=["say "], delivery=Delivery.COMMITTED)
    found = await stream(speaker("안녕"), call, TEXT_CALLS)

    assert {(chunk["id"], chunk["object"]) for chunk in found.chunks} == {("cmpl-1", "text_completion")}
    assert [(part["text"], part["finish_reason"]) for part in found.choice(0)] == [
        ("say ", None),
        ("0: ", None),
        ("안", None),
        ("녕", None),
        ("", "stop"),
    ]
    assert found.done


async def test_completion_without_echo_begins_with_its_text() -> None:
    """There is no role to tell, so there is nothing to send before the first piece."""
    found = await stream(speaker("안녕"), make_call(delivery=Delivery.COMMITTED), TEXT_CALLS)

    assert [part["text"] for part in found.choice(0)] == ["0: ", "안", "녕", ""]


async def test_headers_of_a_stream() -> None:
    """Nobody on the way may keep or hold back events; steps are not known yet."""
    response = await post(speaker(), make_call(delivery=Delivery.COMMITTED, asked=Asked(bucket=Bucket.L)))

    assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert response.headers["cache-control"] == "no-cache"
    assert response.headers["x-accel-buffering"] == "no"
    assert response.headers["x-unmask-bucket"] == "L"
    assert response.headers["x-request-id"]
    assert float(response.headers["x-unmask-overhead-ms"]) >= 0
    assert not {"x-unmask-steps", "content-length"} & set(response.headers)


def reading_aloud(request: Request, _: int) -> list[Event]:
    """Say what a prompt says to say, and how; each choice says which one it is."""
    how = json.loads(request.messages[0].content)
    return speak(request, f"{request.sampling.seed}: {how['text']}", sizes=how["sizes"], canvas=how["canvas"])


APP = make_app(ScriptedBackend(reading_aloud))
"""Built once: examples are many and the application keeps nothing between them."""
HOW = st.fixed_dictionaries(
    {
        "text": st.text(st.characters(exclude_categories=["Cs"]), max_size=40) | st.just(SCRIPTS),
        "sizes": st.lists(st.integers(1, 5), min_size=1, max_size=4),
        "canvas": st.integers(1, 7),
    }
)
CHATS = st.builds(
    lambda how, changes: (CHAT, chat_body(messages=user(json.dumps(how)), **changes)),
    HOW,
    st.sampled_from([{}, {"logprobs": True}, {"logprobs": True, "top_logprobs": 2}]),
)
# Prompts have no log-probabilities, so of these one at most is asked for.
TEXTS = st.builds(
    lambda how, changes: (COMPLETIONS, completion_body(prompt=json.dumps(how), **changes)),
    HOW,
    st.sampled_from([{}, {"logprobs": 0}, {"logprobs": 2}, {"echo": True}, {"echo": False, "logprobs": 2}]),
)


@given(
    body=CHATS | TEXTS,
    choices=st.integers(1, 3),
    snapshots=st.booleans(),
    include_usage=st.booleans(),
)
async def test_stream_is_the_whole_answer_in_parts(
    body: tuple[str, dict[str, Any]], choices: int, snapshots: bool, include_usage: bool
) -> None:
    """Whatever the script and wherever tokens split it: a stream says what the whole answer says, in order, once."""
    path, asked = body
    asked |= {"n": choices, "seed": 1}
    streamed = {"stream": True, "stream_options": {"include_usage": include_usage}}
    if snapshots:
        streamed["diffusion"] = {"stream": "snapshots"}
    async with client_of(APP) as client:
        whole = (await client.post(path, json=asked)).json()
        found = parse_stream((await client.post(path, json=asked | streamed)).content)

    assert len(whole["choices"]) == choices
    for choice in whole["choices"]:
        parts = found.choice(choice["index"])
        assert found.text(choice["index"]) == (choice["message"]["content"] if "message" in choice else choice["text"])
        assert [part["finish_reason"] for part in parts if part["finish_reason"]] == [choice["finish_reason"]]
        assert parts[-1]["finish_reason"]
        assert parts[-1].get("diffusion") == choice.get("diffusion")
        assert joined_logprobs(parts) == choice["logprobs"]
    usages = [chunk["usage"] for chunk in found.chunks if "usage" in chunk]
    assert usages == ([None] * (len(found.chunks) - 1) + [whole["usage"]] if include_usage else [])
    assert all(chunk["choices"] for chunk in found.chunks[: -1 if include_usage else None])
    assert found.done
    assert (found.snapshots != []) == snapshots


def joined_logprobs(parts: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Join the log-probabilities of parts, field by field."""
    given_parts = [part["logprobs"] for part in parts if part["logprobs"] is not None]
    if not given_parts:
        return None
    return {
        name: None if given_parts[0][name] is None else [value for one in given_parts for value in one[name]]
        for name in given_parts[0]
    }


async def test_snapshots_show_every_step_beside_the_text() -> None:
    """A draft comes after every step, before the text of its canvas, and says what is fixed."""
    found = await stream(speaker("abc", canvas=3), make_call(delivery=Delivery.SNAPSHOTS))

    assert [(shot["index"], shot["canvas"], shot["step"], shot["max_steps"]) for shot in found.snapshots] == [
        (0, canvas, step, STEPS) for canvas in (0, 1) for step in (1, 2)
    ]
    assert found.snapshots[0]["pieces"] == [
        {"text": "0", "state": "fixed"},
        {"text": ":", "state": "guessed"},
        {"text": "", "state": "masked"},
    ]
    names = [event.name for event in found.events]
    assert names == [None, "unmask.snapshot", "unmask.snapshot", None] + ["unmask.snapshot"] * 2 + [None] * 3


async def test_snapshots_are_chunks_without_choices() -> None:
    """Who reads every event as a chunk finds one that adds nothing."""
    found = await stream(speaker(), make_call(delivery=Delivery.SNAPSHOTS, include_usage=True))
    shots = [event.value for event in found.events if event.name]

    assert all(shot["choices"] == [] and shot["usage"] is None for shot in shots)
    assert {shot["object"] for shot in shots} == {"chat.completion.chunk"}


async def test_drafts_are_not_sent_unless_asked_for() -> None:
    """A backend that shows its steps all the same is not passed on."""

    def script(request: Request, _: int) -> list[Event]:
        shown = make_call(delivery=Delivery.SNAPSHOTS).requests[0]
        return speak(shown, "42")

    found = await stream(ScriptedBackend(script), make_call(delivery=Delivery.COMMITTED))

    assert found.snapshots == []
    assert found.text() == "42"


async def test_verification_is_reported_with_the_usage() -> None:
    """A text that fails its format is an answer like any other, and says so."""

    class Never:
        def verify(self, text: str) -> Verification:
            return Verification.FAIL

    call = make_call(["a", "b"], delivery=Delivery.COMMITTED, include_usage=True, answer_format=Never())
    found = await stream(speaker(), call)

    assert found.done
    assert found.chunks[-1]["usage"]["diffusion"]["verify"] == "fail"
    assert [found.choice(index)[-1]["diffusion"]["verify"] for index in (0, 1)] == ["fail", "fail"]


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ContextLengthError(500, 10, 256), 400),
        (UnknownModelError("other", ["tiny"]), 404),
        (QueueFullError("full", retry_after_s=2), 429),
        (ZeroDivisionError("secret"), 500),
    ],
)
async def test_refusal_is_answered_with_its_status(error: Exception, status: int) -> None:
    """An error before anything was said is no stream at all."""
    response = await post(ScriptedBackend(lambda *_: [error]), make_call(delivery=Delivery.COMMITTED))

    assert response.status_code == status
    assert response.headers["content-type"] == "application/json"
    assert set(response.json()["error"]) == {"message", "type", "param", "code"}
    assert ("retry-after" in response.headers) == (status == 429)


async def test_refusal_by_the_server_is_answered_with_its_status() -> None:
    """A call with more choices than there are places is refused as a whole."""
    backend = speaker()
    call = make_call(["a"] * 3, delivery=Delivery.COMMITTED)
    gate = asyncio.Event()
    running = Running(3)
    blocked = ScriptedBackend(lambda request, _: [gate, *speak(request, "x")])
    async with client_of(make_app(blocked, running=running)) as client:
        waiting = asyncio.create_task(client.post(CHAT, json=chat_body()))
        await until(lambda: running.count == 1)
        response = await post(backend, call, running=running)
        gate.set()
        await waiting
    later = await post(backend, call, running=running)

    assert (response.status_code, later.status_code) == (429, 200)
    assert len(backend.requests) == 3


def failing(line: Line, *, at: int, choice: int = 0) -> Callable[[Request, int], list[Line]]:
    """Return a script in which one choice has a line in place of all from some place on, and the others wait."""

    def script(request: Request, _: int) -> list[Line]:
        events: list[Line] = list(speak(request, TEXT))
        if request.sampling.seed == choice:
            return [*events[:at], line]
        return [*events[:2], asyncio.Event()]

    return script


EVENTS = len(speak(make_call(delivery=Delivery.SNAPSHOTS).requests[0], TEXT))


@pytest.mark.parametrize("at", range(EVENTS + 1))
@pytest.mark.parametrize("choice", [0, 1])
@pytest.mark.parametrize("path", PATHS)
async def test_failure_at_any_event_ends_the_call(at: int, choice: int, path: str) -> None:
    """A failing choice ends all: plainly before the first event of any, else by an event in place of the mark."""
    backend = ScriptedBackend(failing(QueueFullError("late"), at=at, choice=choice))
    running = Running(2)
    call = make_call(["a", "b"], delivery=Delivery.SNAPSHOTS)
    async with asyncio.timeout(5):
        response = await post(backend, call, path, running=running)

    if response.status_code == 200:
        found = parse_stream(response.content)
        assert found.error == {"message": "late", "type": "rate_limit_error", "param": None, "code": "queue_full"}
        assert all(part["finish_reason"] is None for part in found.choice(1 - choice))
    else:
        assert at == 0
        assert response.status_code == 429
    assert (backend.open, backend.aborted, running.count) == (0, 1, 0)


async def test_text_before_a_failure_is_sent() -> None:
    """What was committed reaches the client although nothing follows."""
    backend = ScriptedBackend(failing(QueueFullError("late"), at=3))
    found = parse_stream((await post(backend, make_call(delivery=Delivery.COMMITTED))).content)

    assert found.error
    assert found.text() == "".join(getattr(event, "text", "") for event in speak(make_call().requests[0], TEXT)[:3])


@pytest.mark.parametrize(
    ("outcome", "reason", "code"),
    [(Outcome.FAILED, ExitReason.FAILED, "generation_failed"), (Outcome.ABORTED, ExitReason.ABORTED, "aborted")],
)
async def test_unfinished_generation_ends_in_an_error(outcome: Outcome, reason: ExitReason, code: str) -> None:
    """Half a text never gets a reason to end; why it failed is for the log."""
    generation = make_generation(
        "x", outcome=outcome, finish_reason=None, usage=make_usage(exit_reason=reason), error="/secret"
    )

    def script(request: Request, _: int) -> list[Event]:
        return [CommitEvent(text="x"), DoneEvent(generation=generation)]

    response = await post(ScriptedBackend(script), make_call(delivery=Delivery.COMMITTED))
    found = parse_stream(response.content)

    assert found.error
    assert found.error["code"] == code
    assert [part["finish_reason"] for part in found.choice(0)] == [None, None]
    assert "/secret" not in response.text


async def test_unforeseen_failure_is_a_plain_error_event(caplog: pytest.LogCaptureFixture) -> None:
    """The client learns an id, the log the cause."""
    backend = ScriptedBackend(failing(ZeroDivisionError("secret"), at=1))
    with caplog.at_level(logging.ERROR):
        response = await post(backend, make_call(delivery=Delivery.COMMITTED))
    found = parse_stream(response.content)

    assert found.error
    assert found.error["type"] == "server_error"
    assert response.headers["x-request-id"] in found.error["message"]
    assert "secret" not in response.text
    assert "secret" in caplog.text


async def test_cut_off_stream_ends_in_an_error() -> None:
    """A server that waits no longer says so to whoever has had text already, and answers 503 where none has."""
    for events, status in ((2, 200), (0, 503)):
        backend, running = ScriptedBackend(failing(asyncio.Event(), at=events)), Running(9)
        async with client_of(app_of(backend, make_call(delivery=Delivery.COMMITTED), running=running)) as client:
            pending = asyncio.create_task(client.post(CHAT_CALLS, json={}))
            await until(lambda backend=backend: backend.open == 1)  # type: ignore[misc]
            for _ in range(20):
                await asyncio.sleep(0)
            assert running.cut_off() == 1
            response = await pending

        assert response.status_code == status
        error = parse_stream(response.content).error if status == 200 else response.json()["error"]
        assert error
        assert error["code"] == "aborted"
        assert (backend.open, running.count) == (0, 0)


async def test_silence_is_filled_with_comments() -> None:
    """While the first canvas takes long the headers and signs of life go out, and after them the answer."""
    gate = asyncio.Event()

    def on_message(client: RawClient) -> None:
        if client.text.count(b": still working\n\n") == 3:
            gate.set()

    backend = ScriptedBackend(lambda request, _: [gate, *speak(request, "42")])
    client = RawClient(path=CHAT_CALLS, on_message=on_message)
    call = make_call(delivery=Delivery.COMMITTED)
    async with asyncio.timeout(5):
        await client.call(app_of(backend, call, pace=StreamPace(comment_s=0.01, stalled_s=60)))
    found = parse_stream(client.text)

    assert client.status == 200
    assert found.comments == 3
    assert (found.text(), found.done) == ("42", True)


async def test_refusal_after_the_headers_is_an_event() -> None:
    """A backend that takes long to refuse can no longer change the status."""
    gate = asyncio.Event()
    backend = ScriptedBackend(lambda *_: [gate, QueueFullError("full")])
    client = RawClient(path=CHAT_CALLS, on_message=lambda _: gate.set())
    call = make_call(delivery=Delivery.COMMITTED)
    async with asyncio.timeout(5):
        await client.call(app_of(backend, call, pace=StreamPace(comment_s=0.01, stalled_s=60)))
    error = parse_stream(client.text).error

    assert client.status == 200
    assert error
    assert error["code"] == "queue_full"
