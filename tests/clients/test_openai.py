"""The official Python client of the OpenAI API, unchanged: answers and streams."""

from typing import Any

import openai
import pytest
from pydantic import BaseModel

from tests.clients.openai_site import PROMPT, SNAPSHOTS, TEXT, openai_site, spoken
from unmask.testing.builders import make_model
from unmask.testing.fake_backend import FakeBackend
from unmask.testing.scripted_backend import ScriptedBackend
from unmask.testing.speech import speak
from unmask.types import Message, Role, StepBudget

SCHEMA: Any = {"type": "json_schema", "json_schema": {"name": "sum", "schema": {"type": "integer"}}}


async def test_streams_join_to_the_answer() -> None:
    """Sync, async and whole say the same."""
    with openai_site(ScriptedBackend(spoken)) as on:
        whole = on.client.chat.completions.create(model="tiny", messages=PROMPT)
        deltas = [
            chunk.choices[0].delta.content or ""
            for chunk in on.client.chat.completions.create(model="tiny", messages=PROMPT, stream=True)
        ]
        async with on.async_client as client:
            async_whole = await client.chat.completions.create(model="tiny", messages=PROMPT)
            stream = await client.chat.completions.create(model="tiny", messages=PROMPT, stream=True)
            async_deltas = [chunk.choices[0].delta.content or "" async for chunk in stream]

    assert whole.choices[0].message.content == "".join(deltas) == "".join(async_deltas) == TEXT
    assert whole.choices == async_whole.choices
    assert whole.choices[0].finish_reason == "stop"
    assert whole.usage is not None
    assert whole.usage.diffusion["exit_reason"] == "converged"  # type: ignore[attr-defined]


def test_usage_comes_last() -> None:
    """Asked for, what the call cost is in a chunk without choices."""
    with openai_site(ScriptedBackend(spoken)) as on:
        whole = on.client.chat.completions.create(model="tiny", messages=PROMPT, n=2)
        chunks = list(
            on.client.chat.completions.create(
                model="tiny", messages=PROMPT, n=2, stream=True, stream_options={"include_usage": True}
            )
        )

    assert [chunk.usage for chunk in chunks[:-1]] == [None] * (len(chunks) - 1)
    assert chunks[-1].usage == whole.usage
    assert chunks[-1].choices == []


async def test_snapshots_are_harmless_and_there() -> None:
    """The client reads a draft as a chunk that adds no text, and hands its content on."""
    with openai_site(ScriptedBackend(spoken)) as on:
        chunks = list(
            on.client.chat.completions.create(model="tiny", messages=PROMPT, stream=True, extra_body=SNAPSHOTS)
        )
        async with on.async_client as client:
            stream = await client.chat.completions.create(
                model="tiny", messages=PROMPT, stream=True, extra_body=SNAPSHOTS
            )
            async_chunks = [chunk async for chunk in stream]

    for found in (chunks, async_chunks):
        assert "".join(chunk.choices[0].delta.content or "" for chunk in found if chunk.choices) == TEXT
        shots = [chunk.diffusion_snapshot for chunk in found if not chunk.choices]  # type: ignore[attr-defined]
        assert shots
        assert {piece["state"] for shot in shots for piece in shot["pieces"]} == {"fixed", "guessed", "masked"}


def test_stream_helper_follows_several_choices_and_drafts() -> None:
    """The client's own accumulator ends with what the whole answer says."""
    backend = ScriptedBackend(lambda request, _: speak(request, f"{request.sampling.seed} {TEXT}"))
    asked: Any = {"model": "tiny", "messages": PROMPT, "n": 3, "seed": 7, "logprobs": True, "top_logprobs": 2}
    with openai_site(backend) as on:
        whole = on.client.chat.completions.create(**asked)
        with on.client.chat.completions.stream(
            **asked, stream_options={"include_usage": True}, extra_body=SNAPSHOTS
        ) as stream:
            final = stream.get_final_completion()

    assert [choice.message.content for choice in final.choices] == [choice.message.content for choice in whole.choices]
    assert len({choice.message.content for choice in final.choices}) == 3
    assert [choice.finish_reason for choice in final.choices] == ["stop"] * 3
    assert final.usage == whole.usage
    for choice in (*final.choices, *whole.choices):
        assert choice.logprobs is not None
        told = [one.bytes for one in choice.logprobs.content or []]
        assert bytes(byte for one in told if one is not None for byte in one).decode() == choice.message.content
        assert {len(one.top_logprobs) for one in choice.logprobs.content or []} == {2}


def test_completions() -> None:
    """The older endpoint, whole and streamed, with its own log-probabilities."""
    with openai_site(ScriptedBackend(spoken)) as on:
        whole = on.client.completions.create(model="tiny", prompt="add 1 + 1", logprobs=1)
        chunks = list(on.client.completions.create(model="tiny", prompt="add 1 + 1", logprobs=1, stream=True))

    assert whole.choices[0].text == "".join(chunk.choices[0].text for chunk in chunks) == TEXT
    assert chunks[-1].choices[0].finish_reason == "stop"
    assert whole.choices[0].logprobs is not None
    parts = [chunk.choices[0].logprobs for chunk in chunks]
    assert [offset for part in parts if part for offset in part.text_offset or []] == whole.choices[
        0
    ].logprobs.text_offset


def test_completions_of_several_prompts() -> None:
    """Choices come prompt by prompt, each behind its echo."""
    with openai_site(FakeBackend(lambda request: f" = {request.messages[0].content}")) as on:
        whole = on.client.completions.create(model="tiny", prompt=["a", "b"], n=2, echo=True)

    assert [(choice.index, choice.text) for choice in whole.choices] == [
        (0, "a = a"),
        (1, "a = a"),
        (2, "b = b"),
        (3, "b = b"),
    ]


def test_headers_are_at_hand() -> None:
    """What the headers say can be read with either kind of raw answer, and the request's id on every answer."""
    with openai_site(FakeBackend()) as on:
        raw = on.client.chat.completions.with_raw_response.create(
            model="tiny", messages=PROMPT, n=2, reasoning_effort="low", extra_headers={"x-request-id": "mine-1"}
        )
        parsed = raw.parse()
        with on.client.chat.completions.with_streaming_response.create(
            model="tiny", messages=PROMPT, stream=True
        ) as streamed:
            lines = [line for line in streamed.iter_lines() if line]

    assert raw.headers["x-request-id"] == parsed._request_id == "mine-1"
    assert raw.headers["x-unmask-steps"] == str(parsed.usage.diffusion["steps_used"])  # type: ignore[union-attr]
    assert raw.headers["x-unmask-bucket"] == "S"
    assert float(raw.headers["x-unmask-overhead-ms"]) >= 0
    assert streamed.headers["content-type"].startswith("text/event-stream")
    assert streamed.headers["x-request-id"].startswith("req-")
    assert "x-unmask-steps" not in streamed.headers
    assert lines[-1] == "data: [DONE]"


def test_format_is_verified_and_reported() -> None:
    """The verdict is with the usage, whatever it is."""
    verdicts = []
    for answer in ("42", "forty-two"):
        with openai_site(FakeBackend(answer)) as on:
            found = on.client.chat.completions.create(model="tiny", messages=PROMPT, response_format=SCHEMA)
        assert found.choices[0].message.content == answer
        verdicts.append(found.usage.diffusion["verify"])  # type: ignore[union-attr]

    assert verdicts == ["pass", "fail"]


class Sum(BaseModel):
    """What a client might want to have."""

    value: int


def test_parse_helper_is_refused_by_name() -> None:
    """It asks for a guaranteed format, which there is not; the error says what to send."""
    with openai_site(FakeBackend()) as on, pytest.raises(openai.BadRequestError, match="Send false") as caught:
        on.client.chat.completions.parse(model="tiny", messages=PROMPT, response_format=Sum)

    assert caught.value.param == "response_format.json_schema.strict"


def test_every_setting_arrives() -> None:
    """Named arguments and those that only this server knows reach the backend."""
    backend = FakeBackend()
    with openai_site(backend) as on:
        found = on.client.chat.completions.create(
            model="nano",
            messages=[{"role": "developer", "content": "be brief"}, *PROMPT],
            max_completion_tokens=9,
            temperature=0.5,
            top_p=0.9,
            seed=5,
            stop=["\n"],
            service_tier="auto",
            user="me",
            metadata={"team": "blue"},
            extra_body={"diffusion": {"max_steps": 3, "max_total_steps": 5, "canvas_length": 8}},
        )
    (request,) = backend.requests

    assert (found.model, found.service_tier) == ("nano", "default")
    assert request.messages == (
        Message(role=Role.SYSTEM, content="be brief"),
        Message(role=Role.USER, content="add 1 + 1"),
    )
    assert request.budget == StepBudget(max_steps=3, max_total_steps=5)
    assert (request.max_tokens, request.canvas_length, request.stop) == (9, 8, ("\n",))
    assert (request.sampling.temperature, request.sampling.top_p, request.sampling.seed) == (0.5, 0.9, 5)


def test_an_answer_may_be_sent_back() -> None:
    """A message as the client holds it, with all its empty fields, is part of the next request."""
    backend = FakeBackend()
    with openai_site(backend) as on:
        (choice,) = on.client.chat.completions.create(model="tiny", messages=PROMPT).choices
        first = choice.message
        for message in (first, first.model_dump(), first.model_dump(exclude_unset=True)):
            messages: Any = [*PROMPT, message, *PROMPT]
            on.client.chat.completions.create(model="tiny", messages=messages)

    assert {request.messages[1:2] for request in backend.requests[1:]} == {
        (Message(role=Role.ASSISTANT, content="42"),)
    }


async def test_models() -> None:
    """What is served is listed, and shown by a name that may hold a slash."""
    backend = FakeBackend(models=(make_model("tiny"), make_model("org/large")))
    with openai_site(backend) as on:
        listed = [model.id for model in on.client.models.list()]
        one = on.client.models.retrieve("org/large")
        async with on.async_client as client:
            async_listed = [model.id async for model in client.models.list()]
            async_one = await client.models.retrieve("org/large")

    assert listed == async_listed == ["tiny", "org/large"]
    assert one == async_one
    assert one.canvas_lengths == [8, 16, 32]  # type: ignore[attr-defined]
