"""The OpenAPI document says what the server does."""

import json
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
from pydantic import BaseModel

from tests.api.calls import CHAT_CALLS, TEXT_CALLS, app_of, make_call
from tests.api.client import CHAT, chat_body, client_of, make_app
from tests.api.sse_events import parse_stream
from unmask.api.call import Call, Delivery
from unmask.api.documented import (
    ChatCompletion,
    ChatCompletionChunk,
    ErrorBody,
    Health,
    ModelEntry,
    ModelList,
    TextCompletion,
    TextCompletionChunk,
)
from unmask.api.schema import EXAMPLE
from unmask.errors import QueueFullError
from unmask.testing.scripted_backend import ScriptedBackend
from unmask.testing.speech import speak
from unmask.types import Bucket


async def document() -> dict[str, Any]:
    """Fetch the document."""
    async with client_of(make_app()) as client:
        return dict((await client.get("/openapi.json")).json())


def references(value: object) -> Iterator[str]:
    """Yield every reference of a document."""
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for below in value.values():
            yield from references(below)
    elif isinstance(value, list):
        for below in value:
            yield from references(below)


async def test_every_reference_resolves() -> None:
    """No schema is referred to that is not there."""
    found = await document()
    names = {f"#/components/schemas/{name}" for name in found["components"]["schemas"]}

    assert set(references(found)) <= names


async def test_request_body_is_described() -> None:
    """The body's schema lists its fields and refuses others."""
    found = await document()
    content = found["paths"][CHAT]["post"]["requestBody"]["content"]["application/json"]
    schema = found["components"]["schemas"][content["schema"]["$ref"].rsplit("/", 1)[-1]]

    assert schema["additionalProperties"] is False
    assert {"model", "messages", "diffusion", "num_denoising_steps"} <= set(schema["properties"])
    assert content["example"] == EXAMPLE


async def test_example_works() -> None:
    """Whoever sends the document's example gets an answer."""
    async with client_of(make_app()) as client:
        response = await client.post(CHAT, json=EXAMPLE)

    assert response.status_code == 200


@pytest.mark.parametrize(
    ("path", "model"), [("/v1/models", ModelList), ("/v1/models/tiny", ModelEntry), ("/health", Health)]
)
async def test_answers_have_the_shape_they_are_said_to_have(path: str, model: type[BaseModel]) -> None:
    """Every documented field is there, and no other."""
    async with client_of(make_app()) as client:
        model.model_validate((await client.get(path)).json())


async def test_completions_and_errors_have_their_shapes() -> None:
    """An answer and an error are what the document says."""
    async with client_of(make_app()) as client:
        ChatCompletion.model_validate((await client.post(CHAT, json=chat_body())).json())
        ErrorBody.model_validate((await client.post(CHAT, json=chat_body(n=2))).json())


MODELS: dict[str, tuple[type[BaseModel], type[BaseModel]]] = {
    CHAT_CALLS: (ChatCompletion, ChatCompletionChunk),
    TEXT_CALLS: (TextCompletion, TextCompletionChunk),
}


def rich_call(delivery: Delivery, choices: int) -> Call:
    """Return a call that asks for everything."""
    return make_call(
        ["a"] * choices,
        delivery=delivery,
        top_logprobs=2,
        include_usage=True,
        bucket=Bucket.M,
        service_tier="default",
    )


@pytest.mark.parametrize("path", MODELS)
@pytest.mark.parametrize("choices", [1, 2])
async def test_rich_answers_have_their_shapes(path: str, choices: int) -> None:
    """With all that may be asked for, and split characters, answers and every chunk are what the document says."""
    whole, chunk = MODELS[path]
    backend = ScriptedBackend(lambda request, _: speak(request, "안녕 🙂"))
    responses = {}
    for delivery in Delivery:
        async with client_of(app_of(backend, rich_call(delivery, choices))) as client:
            responses[delivery] = await client.post(path, json={})
    whole.model_validate(responses[Delivery.WHOLE].json())
    for delivery in (Delivery.COMMITTED, Delivery.SNAPSHOTS):
        for event in parse_stream(responses[delivery].content).events[:-1]:
            chunk.model_validate(event.value)


async def test_events_are_described() -> None:
    """Every event of a stream, and an error at its end, fits the schema of the document."""
    found = await document()
    content = found["paths"][CHAT]["post"]["responses"]["200"]["content"]
    event = content["text/event-stream"]["itemSchema"]
    validator = jsonschema_rs.validator_for({**event, "components": found["components"]})
    data = validator_of_data(found, event)
    backend = ScriptedBackend(
        lambda request, _: [
            *speak(request, "안녕"),
            *([QueueFullError("late")] if request.top_logprobs is None else []),
        ]
    )
    for call in (rich_call(Delivery.SNAPSHOTS, 2), make_call(delivery=Delivery.COMMITTED)):
        async with client_of(app_of(backend, call)) as client:
            events = parse_stream((await client.post(CHAT_CALLS, json={})).content).events
        for one in events:
            raw = "[DONE]" if one.value is None else json.dumps(one.value)
            validator.validate({"data": raw} if one.name is None else {"event": one.name, "data": raw})
            if one.value is not None:
                data.validate(one.value)

    assert set(content) == {"application/json", "text/event-stream"}


def validator_of_data(found: dict[str, Any], event: dict[str, Any]) -> jsonschema_rs.Validator:
    """Return what validates the JSON that an event carries."""
    carried = event["properties"]["data"]["anyOf"][0]["contentSchema"]
    return jsonschema_rs.validator_for({**carried, "components": found["components"]})


async def test_headers_are_described() -> None:
    """Headers of answers are in the document, and none is promised that some answers lack."""
    found = await document()
    headers = found["paths"][CHAT]["post"]["responses"]["200"]["headers"]

    assert set(headers) == {"x-unmask-steps", "x-unmask-bucket", "x-unmask-overhead-ms"}
    assert not any(header.get("required") for header in headers.values())


async def test_no_page_is_served_that_loads_from_elsewhere() -> None:
    """The document is served; viewers that fetch scripts from other hosts are not."""
    async with client_of(make_app()) as client:
        statuses = [(await client.get(path)).status_code for path in ("/docs", "/redoc")]

    assert statuses == [404, 404]
