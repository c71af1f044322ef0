"""Requests that users of other servers reported as faults, answered by the embedded models with default settings."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from tests.api.client import client_of, make_app
from unmask.local.build import LocalPlan, build_local_backends

CASES = Path(__file__).parents[1] / "cases" / "http.jsonl"
Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A case's request with its answer, and a way to ask again."""

    case: Json
    response: httpx.Response
    client: httpx.AsyncClient

    @property
    def body(self) -> Json:
        """The answer as JSON."""
        return dict(self.response.json())

    @property
    def spent(self) -> Json:
        """What the answer says it cost in steps."""
        return dict(self.body["usage"]["diffusion"])

    @property
    def text(self) -> str:
        """The text of the first choice."""
        return str(self.body["choices"][0]["message"]["content"])

    @property
    def chunks(self) -> list[Json]:
        """The chunks of a stream, which has to end with its mark."""
        *events, end = [line for line in self.response.text.split("\n\n") if line and not line.startswith(":")]
        assert end == "data: [DONE]"
        assert all(event.startswith("data: ") for event in events)
        return [json.loads(event.removeprefix("data: ")) for event in events]

    async def again(self, **changes: object) -> Json:
        """Return the answer to the same request with some fields changed."""
        response = await self.client.post(self.case["path"], json=self.case["body"] | changes)
        assert response.status_code == 200
        return dict(response.json())


def cases() -> list[Json]:
    """Return every case of the file."""
    return [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client() -> AsyncIterator[httpx.AsyncClient]:
    """Serve the embedded models, loaded once."""
    backend = build_local_backends(LocalPlan(queue_limit=64))[0]
    async with client_of(make_app(backend)) as opened:
        yield opened
    await backend.drain()


@pytest.mark.parametrize("case", cases(), ids=lambda case: str(case["name"]))
@pytest.mark.asyncio(loop_scope="module")
async def test_case(case: Json, client: httpx.AsyncClient) -> None:
    """The answer has the status of the case, names its parameter, and holds to what the case says in words."""
    content = case["raw"] if case["raw"] is not None else None if case["body"] is None else json.dumps(case["body"])
    headers = {"content-type": "application/json", **case["headers"]}
    response = await client.request(case["method"], case["path"], content=content, headers=headers)

    expected = case["expect"]
    assert response.status_code == expected["status"], response.text
    if response.status_code >= 400:
        error = response.json()["error"]
        assert set(error) == {"message", "type", "param", "code"}
        assert error["message"]
    if "param" in expected:
        assert response.json()["error"]["param"] == expected["param"]
    checks = CHECKS.get(case["name"])
    assert (checks is not None) == ("check" in expected and case["name"] not in BY_STATUS)
    if checks is not None:
        await checks(Exchange(case=case, response=response, client=client))


def test_every_check_belongs_to_a_case() -> None:
    """A case that is renamed does not lose its check."""
    names = {case["name"] for case in cases()}
    assert set(CHECKS) | BY_STATUS <= names


async def _one_step_a_canvas(exchange: Exchange) -> None:
    assert exchange.spent["steps_used"] == exchange.spent["canvases"]
    assert "<mask>" not in exchange.text


async def _within_the_alias(exchange: Exchange) -> None:
    assert exchange.spent["steps_used"] <= exchange.case["body"]["num_denoising_steps"] * exchange.spent["canvases"]


async def _known_fields_listed(exchange: Exchange) -> None:
    message = exchange.body["error"]["message"]
    assert all(name in message for name in ("max_steps", "max_total_steps", "strategy", "threshold", "canvas_length"))


async def _one_token(exchange: Exchange) -> None:
    assert exchange.body["choices"][0]["finish_reason"] == "length"
    assert exchange.body["usage"]["completion_tokens"] == 1
    assert len(exchange.text) == 1, "a digit is a token"


async def _same_three(exchange: Exchange) -> None:
    texts = [choice["message"]["content"] for choice in exchange.body["choices"]]
    again = await exchange.again()
    assert [choice["index"] for choice in exchange.body["choices"]] == [0, 1, 2]
    assert [choice["message"]["content"] for choice in again["choices"]] == texts


async def _zero_is_no_penalty(exchange: Exchange) -> None:
    await exchange.again(frequency_penalty=0)


async def _streams_with_usage(exchange: Exchange) -> None:
    *chunks, last = exchange.chunks
    whole = await exchange.again(stream=False, stream_options=None)
    assert last["choices"] == []
    # What the cache held differs from call to call, and nothing else may.
    assert last["usage"] == whole["usage"] | {"prompt_tokens_details": last["usage"]["prompt_tokens_details"]}
    assert _joined(chunks) == whole["choices"][0]["message"]["content"]


async def _streams_without_usage(exchange: Exchange) -> None:
    whole = await exchange.again(stream=False)
    assert all(chunk["choices"] and not chunk.get("usage") for chunk in exchange.chunks)
    assert _joined(exchange.chunks) == whole["choices"][0]["message"]["content"]


async def _ends_before_the_comma(exchange: Exchange) -> None:
    assert "," not in exchange.text
    assert exchange.body["choices"][0]["finish_reason"] == "stop"


async def _typed_tokens_are_text(exchange: Exchange) -> None:
    typed = exchange.case["body"]["messages"][0]["content"]
    longer = await exchange.again(messages=[{"role": "user", "content": typed.replace("<mask>", "")}])
    assert exchange.body["usage"]["prompt_tokens"] > longer["usage"]["prompt_tokens"] + len("<mask>")


async def _lists_both_models(exchange: Exchange) -> None:
    models = {model["id"]: model for model in exchange.body["data"]}
    assert set(models) == {"tiny", "nano"}
    for model in models.values():
        assert min(model[name] for name in ("canvas_length", "context_length", "max_steps")) > 0


async def _id_comes_back(exchange: Exchange) -> None:
    assert exchange.response.headers["x-request-id"] == "abc-123"


def _joined(chunks: list[Json]) -> str:
    return "".join(choice["delta"].get("content") or "" for chunk in chunks for choice in chunk["choices"])


BY_STATUS = frozenset({"ends with assistant", "schema remote reference", "duplicate keys differ", "tools"})
"""Cases whose words add nothing to the status that an answer could show."""

CHECKS: Mapping[str, Callable[[Exchange], Awaitable[None]]] = {
    "budget of one": _one_step_a_canvas,
    "alias budget": _within_the_alias,
    "unknown diffusion field": _known_fields_listed,
    "frequency_penalty refused": _zero_is_no_penalty,
    "max_tokens one": _one_token,
    "n of three with seed": _same_three,
    "mask token as text": _typed_tokens_are_text,
    "stream usage": _streams_with_usage,
    "stream without usage": _streams_without_usage,
    "stop sequence": _ends_before_the_comma,
    "models": _lists_both_models,
    "request id echoed": _id_comes_back,
}
