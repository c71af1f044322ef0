"""Clients of the process that `unmask serve` is, and of the model in the package."""

import json
import shlex
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from openai import OpenAI
from prometheus_client.parser import text_string_to_metric_families

from tests.clients.process import MODEL, Served
from tests.clients.server import eventually

ADD: Any = [{"role": "user", "content": "add 12 + 30"}]
SHORT = {"diffusion": {"canvas_length": 8}}


@pytest.fixture(name="client")
def _client(process: Served) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{process.url}/v1", api_key="any", max_retries=0) as client:
        yield client


def metric(process: Served, name: str, **labels: str) -> float:
    """Return the sum of a metric's samples that have such labels."""
    families = text_string_to_metric_families(httpx.get(f"{process.url}/metrics").text)
    samples = [sample for family in families for sample in family.samples if sample.name == name]
    assert samples
    return sum(sample.value for sample in samples if labels.items() <= sample.labels.items())


def test_printed_command_is_a_request_that_works(process: Served) -> None:
    """What the command sends, word by word, is answered."""
    program, _, url, _, header, _, body = shlex.split(process.command)
    name, value = header.split(": ")
    answered = httpx.post(url, headers={name: value}, content=body)

    assert program == "curl"
    assert answered.status_code == 200
    assert answered.json()["model"] == MODEL
    assert answered.json()["usage"]["diffusion"]["steps_used"] > 0


def test_stream_is_the_whole_answer(client: OpenAI) -> None:
    """Drawn with one seed, several answers are the same whole and streamed, to the last log-probability."""
    asked: Any = {"model": MODEL, "messages": ADD, "n": 3, "seed": 3, "temperature": 1.0, "max_tokens": 24}
    whole = client.chat.completions.create(**asked, logprobs=True, top_logprobs=1)
    with client.chat.completions.stream(
        **asked, logprobs=True, top_logprobs=1, stream_options={"include_usage": True}
    ) as stream:
        final = stream.get_final_completion()

    for one, other in zip(final.choices, whole.choices, strict=True):
        assert one.message.content == other.message.content
        assert one.logprobs is not None
        assert other.logprobs is not None
        assert one.logprobs.content == other.logprobs.content
    assert final.usage is not None
    assert whole.usage is not None
    assert final.usage.diffusion == whole.usage.diffusion  # type: ignore[attr-defined]


def test_budget_is_kept_and_told(client: OpenAI) -> None:
    """No more steps than were allowed, and the headers say as much as the body."""
    raw = client.chat.completions.with_raw_response.create(
        model=MODEL, messages=ADD, extra_body={"diffusion": {"max_steps": 2, "max_total_steps": 3}}
    )
    spent = raw.parse().usage.diffusion  # type: ignore[union-attr]

    assert raw.headers["x-unmask-steps"] == str(spent["steps_used"])
    assert 1 <= spent["steps_used"] <= spent["steps_allocated"] <= 3


def test_drafts_end_as_the_text(client: OpenAI) -> None:
    """The last draft of the one canvas holds what is committed."""
    chunks = list(
        client.chat.completions.create(
            model=MODEL, messages=ADD, max_tokens=8, stream=True, extra_body={"diffusion": {"stream": "snapshots"}}
        )
    )
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    shots = [chunk.diffusion_snapshot for chunk in chunks if not chunk.choices]  # type: ignore[attr-defined]

    assert text
    assert "".join(piece["text"] for piece in shots[-1]["pieces"]).startswith(text)


def test_leaving_a_stream_stops_the_steps(process: Served, client: OpenAI) -> None:
    """Once a client has closed its stream the engine takes no step for it, nor for what still waited."""
    asked: Any = {"model": MODEL, "temperature": 2.0, "stream": True}
    stream = client.completions.create(**asked, prompt=["add 12 + 30"] * 64, extra_body=SHORT)
    next(stream)
    stream.close()
    eventually(lambda: metric(process, "unmask_requests_open") == 0)
    steps = metric(process, "unmask_engine_steps_total")
    client.completions.create(model=MODEL, prompt="add 12 + 30", extra_body={"diffusion": {"max_total_steps": 1}})

    assert metric(process, "unmask_engine_steps_total") == steps + 1
    assert metric(process, "unmask_generations_total", outcome="aborted") > 32


def test_what_the_model_cannot_take_is_refused(process: Served) -> None:
    """Limits that only the model knows are answered like the others."""
    answers = [
        httpx.post(f"{process.url}/v1/chat/completions", json={"model": MODEL, "messages": messages, **changes})
        for messages, changes in (
            ([{"role": "user", "content": "1 " * 4096}], {}),
            (ADD, {"diffusion": {"threshold": 1.5}}),
        )
    ]

    assert [(answer.status_code, answer.json()["error"]["code"]) for answer in answers] == [
        (400, "context_length_exceeded"),
        (400, "invalid_value"),
    ]
    assert json.loads(answers[1].content)["error"]["param"] == "diffusion.threshold"
