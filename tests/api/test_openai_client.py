"""The official Python client of the OpenAI API, unchanged, over a real socket."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI, OpenAI

from tests.api.calls import app_of
from tests.api.site import eventually, served
from unmask.api.event_stream import StreamPace
from unmask.api.running import Running
from unmask.backend import Request
from unmask.errors import QueueFullError
from unmask.testing.scripted_backend import Line, ScriptedBackend
from unmask.testing.speech import speak

TEXT = "안녕하세요 🙂 مرحبا\u2028!"
PROMPT: Any = [{"role": "user", "content": "add 1 + 1"}]
SNAPSHOTS = {"diffusion": {"stream": "snapshots"}}


def spoken(request: Request, _: int) -> list[Line]:
    """Say the text."""
    return list(speak(request, TEXT))


@contextmanager
def clients(backend: ScriptedBackend, **options: Any) -> Iterator[tuple[OpenAI, AsyncOpenAI]]:  # noqa: ANN401 - as `app_of` takes them
    """Yield both clients of a server."""
    with served(app_of(backend, **options)) as url:
        base_url = f"{url}/calls"
        with OpenAI(base_url=base_url, api_key="any", max_retries=0) as client:
            yield client, AsyncOpenAI(base_url=base_url, api_key="any", max_retries=0)


async def test_streams_join_to_the_answer() -> None:
    """Sync, async and whole say the same."""
    backend = ScriptedBackend(spoken)
    with clients(backend) as (client, async_client):
        whole = client.chat.completions.create(model="tiny", messages=PROMPT)
        deltas = [
            chunk.choices[0].delta.content or ""
            for chunk in client.chat.completions.create(model="tiny", messages=PROMPT, stream=True)
        ]
        async with async_client:
            stream = await async_client.chat.completions.create(model="tiny", messages=PROMPT, stream=True)
            async_deltas = [chunk.choices[0].delta.content or "" async for chunk in stream]

    assert whole.choices[0].message.content == "".join(deltas) == "".join(async_deltas) == TEXT
    assert whole.choices[0].finish_reason == "stop"
    assert whole.usage is not None
    assert whole.usage.diffusion["exit_reason"] == "converged"  # type: ignore[attr-defined]


async def test_usage_comes_last() -> None:
    """Asked for, what the call cost is in a chunk without choices."""
    backend = ScriptedBackend(spoken)
    with clients(backend) as (client, _):
        whole = client.chat.completions.create(model="tiny", messages=PROMPT, n=2)
        chunks = list(
            client.chat.completions.create(
                model="tiny", messages=PROMPT, n=2, stream=True, stream_options={"include_usage": True}
            )
        )

    assert [chunk.usage for chunk in chunks[:-1]] == [None] * (len(chunks) - 1)
    assert chunks[-1].usage == whole.usage
    assert chunks[-1].choices == []


async def test_snapshots_are_harmless_and_there() -> None:
    """The client reads a draft as a chunk that adds no text, and hands its content on."""
    backend = ScriptedBackend(spoken)
    with clients(backend) as (client, async_client):
        chunks = list(client.chat.completions.create(model="tiny", messages=PROMPT, stream=True, extra_body=SNAPSHOTS))
        async with async_client:
            stream = await async_client.chat.completions.create(
                model="tiny", messages=PROMPT, stream=True, extra_body=SNAPSHOTS
            )
            async_chunks = [chunk async for chunk in stream]

    for found in (chunks, async_chunks):
        assert "".join(chunk.choices[0].delta.content or "" for chunk in found if chunk.choices) == TEXT
        shots = [chunk.diffusion_snapshot for chunk in found if not chunk.choices]  # type: ignore[attr-defined]
        assert shots
        assert {piece["state"] for shot in shots for piece in shot["pieces"]} == {"fixed", "guessed", "masked"}


async def test_stream_helper_follows_several_choices_and_drafts() -> None:
    """The client's own accumulator ends with what the whole answer says."""
    backend = ScriptedBackend(lambda request, _: speak(request, f"{request.sampling.seed} {TEXT}"))
    with (
        clients(backend) as (client, _),
        client.chat.completions.stream(
            model="tiny",
            messages=PROMPT,
            n=3,
            logprobs=True,
            top_logprobs=2,
            stream_options={"include_usage": True},
            extra_body=SNAPSHOTS,
        ) as stream,
    ):
        final = stream.get_final_completion()

    assert [choice.message.content for choice in final.choices] == [f"{number} {TEXT}" for number in range(3)]
    assert [choice.finish_reason for choice in final.choices] == ["stop"] * 3
    assert final.usage is not None
    for choice in final.choices:
        assert choice.logprobs is not None
        told = [one.bytes for one in choice.logprobs.content or []]
        assert bytes(byte for one in told if one is not None for byte in one).decode() == choice.message.content


async def test_legacy_completions() -> None:
    """The older endpoint, whole and streamed, with its own log-probabilities."""
    backend = ScriptedBackend(spoken)
    with clients(backend) as (client, _):
        whole = client.completions.create(model="tiny", prompt="add 1 + 1", logprobs=1)
        chunks = list(client.completions.create(model="tiny", prompt="add 1 + 1", logprobs=1, stream=True))

    assert whole.choices[0].text == "".join(chunk.choices[0].text for chunk in chunks) == TEXT
    assert chunks[-1].choices[0].finish_reason == "stop"
    assert whole.choices[0].logprobs is not None
    parts = [chunk.choices[0].logprobs for chunk in chunks]
    assert [offset for part in parts if part for offset in part.text_offset or []] == whole.choices[
        0
    ].logprobs.text_offset


async def test_failure_after_the_headers_is_raised() -> None:
    """Whoever iterates is told, sync and async, and keeps the text so far."""
    backend = ScriptedBackend(lambda request, _: [*speak(request, TEXT)[:2], QueueFullError("late")])
    with clients(backend) as (client, async_client):
        seen: list[Any] = []
        with pytest.raises(openai.APIError, match="late") as caught:
            seen.extend(client.chat.completions.create(model="tiny", messages=PROMPT, stream=True))
        async with async_client:
            stream = await async_client.chat.completions.create(model="tiny", messages=PROMPT, stream=True)
            with pytest.raises(openai.APIError, match="late"):
                async for _ in stream:
                    pass

    assert "".join(chunk.choices[0].delta.content or "" for chunk in seen) == TEXT[:2]
    assert caught.value.code == "queue_full"
    assert caught.value.type == "rate_limit_error"


async def test_failure_before_the_headers_has_its_class() -> None:
    """A stream that is refused is an error of the client's own kind."""
    backend = ScriptedBackend(lambda *_: [QueueFullError("full", retry_after_s=0.01)])
    with clients(backend) as (client, _), pytest.raises(openai.RateLimitError) as caught:
        client.chat.completions.create(model="tiny", messages=PROMPT, stream=True)

    assert caught.value.code == "queue_full"


async def test_client_retries_what_it_may() -> None:
    """Told when to come back, it does, and gets its stream."""
    backend = ScriptedBackend(
        lambda request, earlier: speak(request, TEXT) if earlier else [QueueFullError("full", retry_after_s=0.001)]
    )
    with clients(backend) as (client, _):
        stream = client.with_options(max_retries=1).chat.completions.create(model="tiny", messages=PROMPT, stream=True)
        text = "".join(chunk.choices[0].delta.content or "" for chunk in stream)

    assert text == TEXT
    assert len(backend.requests) == 2


async def test_comments_are_skipped() -> None:
    """Signs of life before the first canvas are none of the client's business."""
    backend = ScriptedBackend(lambda request, _: [0.05, *speak(request, TEXT)])
    with clients(backend, pace=StreamPace(comment_s=0.005)) as (client, _):
        stream = client.chat.completions.create(model="tiny", messages=PROMPT, stream=True)
        text = "".join(chunk.choices[0].delta.content or "" for chunk in stream)

    assert text == TEXT


async def test_closing_a_stream_stops_it() -> None:
    """A client that has enough leaves nothing running, wherever it stops."""
    running = Running(10)
    backend = ScriptedBackend(lambda request, _: [*speak(request, TEXT)[:-1], 3600.0])
    with clients(backend, running=running) as (client, _):
        for _ in range(3):
            stream = client.chat.completions.create(model="tiny", messages=PROMPT, stream=True)
            next(stream)
            stream.close()
            eventually(lambda: backend.open == 0 and running.count == 0)

    assert backend.aborted == 3
