"""The OpenAPI document says what the server does."""

import json
import re
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import openapi_spec_validator
import pytest
from pydantic import BaseModel

from tests.api.calls import CHAT_CALLS, TEXT_CALLS, app_of, make_call
from tests.api.client import CHAT, COMPLETIONS, chat_body, client_of, completion_body, json_schema, make_app, user
from tests.api.sse_events import parse_stream
from unmask.api.call import Call, Delivery
from unmask.api.completion_schema import CompletionBody
from unmask.api.components import with_schemas
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
from unmask.api.examples import CHAT_EXAMPLES, COMPLETION_EXAMPLES, Example
from unmask.api.openapi import with_request_schemas
from unmask.api.seeds import LARGEST_SEED
from unmask.api.translate import to_call
from unmask.api.validate import validate_chat, validate_completion
from unmask.control.asked import Asked
from unmask.errors import InvalidRequestError, QueueFullError
from unmask.testing.builders import make_model
from unmask.testing.fake_backend import FakeBackend
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


async def test_document_is_valid() -> None:
    """In the version of OpenAPI that it says it is written in."""
    openapi_spec_validator.validate(await document())


async def test_every_reference_resolves() -> None:
    """No schema is referred to that is not there."""
    found = await document()
    names = {f"#/components/schemas/{name}" for name in found["components"]["schemas"]}

    assert set(references(found)) <= names


async def test_request_body_is_described() -> None:
    """The body's schema lists its fields and refuses others, and examples show their use."""
    found = await document()
    content = found["paths"][CHAT]["post"]["requestBody"]["content"]["application/json"]
    schema = found["components"]["schemas"][content["schema"]["$ref"].rsplit("/", 1)[-1]]

    assert schema["additionalProperties"] is False
    assert {"model", "messages", "diffusion", "num_denoising_steps", "tools"} <= set(schema["properties"])
    assert {name: example["value"] for name, example in content["examples"].items()} == {
        name: example.body for name, example in CHAT_EXAMPLES.items()
    }


async def test_examples_ask_for_what_is_served() -> None:
    """Whoever sends one gets an answer, whatever the model is called."""
    async with client_of(make_app(FakeBackend(models=(make_model("large"), make_model("tiny"))))) as client:
        found = (await client.get("/openapi.json")).json()
        for path in (CHAT, COMPLETIONS):
            content = found["paths"][path]["post"]["requestBody"]["content"]["application/json"]
            for example in content["examples"].values():
                response = await client.post(path, json=example["value"])

                assert (response.status_code, example["value"]["model"]) == (200, "large")


async def test_both_request_bodies_are_there() -> None:
    """The older endpoint's body is described beside the newer one's."""
    assert {"ChatBody", CompletionBody.__name__} <= set((await document())["components"]["schemas"])


@pytest.mark.parametrize("example", CHAT_EXAMPLES.values(), ids=CHAT_EXAMPLES)
async def test_example_works(example: Example) -> None:
    """Whoever sends an example of the document gets an answer."""
    async with client_of(make_app()) as client:
        response = await client.post(CHAT, json=example.body)

    assert response.status_code == 200


@pytest.mark.parametrize("example", COMPLETION_EXAMPLES.values(), ids=COMPLETION_EXAMPLES)
def test_example_of_a_completion_is_a_call(example: Example) -> None:
    """So do those of the older endpoint."""
    assert to_call(validate_completion(dict(example.body)), make_model(), lambda: 0).requests


def validator(body: str, **limits: Any) -> jsonschema_rs.Validator:  # noqa: ANN401 - any field of a model
    """Return what checks bodies against the document for a model of such limits."""
    found = with_request_schemas({"components": {"schemas": {}}}, [make_model(**limits)])
    return jsonschema_rs.validator_for({"$ref": f"#/components/schemas/{body}", **found})


TRUE: tuple[dict[str, Any], ...] = (
    {},
    {"n": 16},
    {"n": None, "logit_bias": {}, "frequency_penalty": 0, "presence_penalty": None},
    {"max_tokens": 256, "diffusion": {"max_steps": 32, "canvas_length": 8, "early_exit": False, "min_steps": 1}},
    {"stream": True, "stream_options": {"include_usage": True}, "diffusion": {"stream": "snapshots"}},
    {"reasoning_effort": "low", "num_denoising_steps": None, "diffusion": {"max_total_steps": 9}},
    json_schema({"type": "integer"}, strict=False),
    {"diffusion": {"strategy": "entropy_bound", "threshold": 1.5}, "repetition_penalty": 1.0, "top_k": -1},
    {"diffusion": {"strategy": None, "threshold": 1}},
    {"diffusion": {"early_exit": True, "task": "sort", "service_class": "batch", "criticality": "high"}},
    {
        "diffusion": {
            "verify": [{"kind": "regex", "pattern": "a+"}, {"kind": "length", "unit": "words", "maximum": 3.0}]
        }
    },
    {"diffusion": {"verify": [{"kind": "constraint", "same_items": ["1"], "order": "as_given", "distinct": None}]}},
    {
        "diffusion": {
            "verify": [{"kind": "facts", "required": ["a"]}, {"kind": "self_consistency", "compare": "number"}]
        }
    },
    {"diffusion": {"verify": None, "max_reexpansions": 2, "stream": "verified"}, "stream": True},
    {"diffusion": {"search": "candidates", "width": 16}, "stream": True},
    {"diffusion": {"search": "none", "width": None}},
    {"diffusion": {"search": "rollover", "segment_weights": [1, 2.5]}},
    {"diffusion": {"mode": "autoregressive", "search": "none"}, "temperature": 0.5},
    {"diffusion": {"mode": "speculative", "canvas_length": 16, "stream": "committed"}, "stream": True},
    {"diffusion": {"mode": "diffusion", "strategy": "klass"}},
)
FALSE: tuple[dict[str, Any], ...] = (
    {"n": 0},
    {"n": 17},
    {"n": "1"},
    {"seed": LARGEST_SEED + 1},
    {"top_k": 1},
    {"top_a": 1},
    {"diffusion": {"threshold": 1.5}},
    {"diffusion": {"threshold": 1.5, "strategy": "klass"}},
    {"diffusion": {"threshold": 1.5, "strategy": None}},
    {"tools": [{}]},
    {"logit_bias": {"5": 1}},
    {"store": True},
    {"frequency_penalty": 0.5},
    {"max_tokens": 257},
    {"diffusion": {"max_steps": 33}},
    {"diffusion": {"canvas_length": 12}},
    {"diffusion": {"min_steps": 2}},
    {"diffusion": {"early_exit": 1}},
    {"diffusion": {"task": ""}},
    {"diffusion": {"service_class": "a b"}},
    {"diffusion": {"stream": "snapshots"}},
    {"diffusion": {"verify": []}},
    {"diffusion": {"verify": [{"kind": "python"}]}},
    {"diffusion": {"verify": [{"kind": "regex"}]}},
    {"diffusion": {"verify": [{"kind": "numeric", "minimum": "1"}]}},
    {"diffusion": {"verify": [{"kind": "length", "minimum": 1, "pattern": "a"}]}},
    {"diffusion": {"verify": [{"kind": "constraint", "max_items": -1}]}},
    {"diffusion": {"verify": [{"kind": "self_consistency", "samples": 9}]}},
    {"diffusion": {"max_reexpansions": 17}},
    {"diffusion": {"search": "best"}},
    {"diffusion": {"search": "breadth", "width": 0}},
    {"diffusion": {"search": "breadth", "width": 1000}},
    {"diffusion": {"search": "rollover", "segment_weights": []}},
    {"diffusion": {"search": "rollover", "segment_weights": [0]}},
    {"diffusion": {"mode": "fast"}},
    {"vllm_xargs": {"diffusion_canvas_length": 12}},
    {"stream_options": {"include_usage": True}},
    {"stream": False, "stream_options": {}},
    {"reasoning_effort": "low", "num_denoising_steps": 4},
    {"reasoning_effort": "low", "diffusion": {"max_steps": 4}},
    {"reasoning_effort": "low", "vllm_xargs": {"diffusion_max_steps": 4}},
    json_schema({"type": "integer"}, strict=True),
)


@pytest.mark.parametrize("changes", TRUE)
def test_what_the_document_allows_is_taken(changes: dict[str, Any]) -> None:
    """A generator of requests that goes by the document is not refused."""
    assert validator("ChatBody").is_valid(chat_body(**changes))
    assert validator("CompletionBody").is_valid(completion_body(**changes))
    for body in (validate_chat(chat_body(**changes)), validate_completion(completion_body(**changes))):
        assert to_call(body, make_model(), lambda: 0).requests


@pytest.mark.parametrize("changes", FALSE)
def test_what_is_refused_the_document_does_not_allow(changes: dict[str, Any]) -> None:
    """The document says the limits, those of the served models and of fields together among them."""
    assert not validator("ChatBody").is_valid(chat_body(**changes))
    assert not validator("CompletionBody").is_valid(completion_body(**changes))
    with pytest.raises(InvalidRequestError):
        to_call(validate_chat(chat_body(**changes)), make_model(), lambda: 0)


@pytest.mark.parametrize(
    ("body", "changes"),
    [
        ("ChatBody", {"messages": user("")}),
        ("ChatBody", {"messages": user([{"type": "text", "text": ""}])}),
        ("ChatBody", {"top_logprobs": 2}),
        ("CompletionBody", {"prompt": [""]}),
        ("CompletionBody", {"prompt": [1, 2]}),
        ("CompletionBody", {"echo": True, "logprobs": 0}),
    ],
)
def test_limits_of_one_endpoint_are_in_the_document(body: str, changes: dict[str, Any]) -> None:
    """So are those that only one of the endpoints has."""
    valid = chat_body(tools=[], store=False) if body == "ChatBody" else completion_body(suffix="", n=2, best_of=2)

    assert validator(body).is_valid(valid)
    assert not validator(body).is_valid(valid | changes)


@pytest.mark.parametrize("body", ["ChatBody", "CompletionBody"])
def test_models_are_in_the_document(body: str) -> None:
    """A generator of requests asks for what is served."""
    valid = chat_body() if body == "ChatBody" else completion_body()

    assert validator(body).is_valid(valid)
    assert not validator(body).is_valid(valid | {"model": "other"})
    assert with_request_schemas({"components": {"schemas": {}}}, [])["components"]["schemas"][body]


def test_no_name_stands_for_two_schemas() -> None:
    """A schema is never replaced by another of its name; the same one may be added again."""
    document: dict[str, Any] = {"components": {"schemas": {"A": {"type": "string"}}}}

    assert with_schemas(document, {"A": {"type": "string"}, "B": {}})["components"]["schemas"].keys() == {"A", "B"}
    with pytest.raises(AssertionError, match="two schemas are called A"):
        with_schemas(document, {"A": {"type": "integer"}})


async def test_parts_of_paths_are_described() -> None:
    """Whatever a path leaves open has a parameter of its name."""
    for path, operations in (await document())["paths"].items():
        for operation in operations.values():
            named = {parameter["name"] for parameter in operation.get("parameters", []) if parameter["in"] == "path"}

            assert named == set(re.findall(r"{(\w+)}", path))


def keywords(schema: object) -> Iterator[str]:
    """Yield every key of a schema that is not the name of a field."""
    if isinstance(schema, dict):
        for key, below in schema.items():
            yield key
            yield from keywords(list(below.values()) if key in {"properties", "schemas", "$defs"} else below)
    elif isinstance(schema, list):
        for below in schema:
            yield from keywords(below)


def test_document_is_written_in_json_schema() -> None:
    """Limits are told in keywords that readers know, none of them in words of the library that writes them."""
    found = set(keywords(with_request_schemas({"components": {"schemas": {}}}, [make_model()])))

    assert "minimum" in found
    assert not found & {"ge", "gt", "le", "lt", "min_length", "max_length"}


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
        ErrorBody.model_validate((await client.post(CHAT, json=chat_body(n=0))).json())


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
        asked=Asked(bucket=Bucket.M),
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
            validator.validate({"event": one.name or "message", "data": raw})
            validator.validate({"data": raw} if one.name is None else {"event": one.name, "data": raw})
            if one.value is not None:
                data.validate(one.value)

    assert set(content) == {"application/json", "text/event-stream"}


def validator_of_data(found: dict[str, Any], event: dict[str, Any]) -> jsonschema_rs.Validator:
    """Return what validates the JSON that an event carries."""
    carried = event["properties"]["data"]["anyOf"][0]["contentSchema"]
    return jsonschema_rs.validator_for({**carried, "components": found["components"]})


async def test_headers_are_described() -> None:
    """Headers of answers are in the document, and only that is promised which every answer has."""
    answers = (await document())["paths"][CHAT]["post"]["responses"]
    headers = answers["200"]["headers"]

    ours = {f"x-unmask-{name}" for name in ("steps", "cost", "bucket", "cache", "overhead-ms")}
    assert set(headers) == {"x-request-id"} | ours
    assert {name for name, header in headers.items() if header.get("required")} == {"x-request-id"}
    assert set(answers["429"]["headers"]) == {"x-request-id", "x-unmask-reason", "retry-after", "retry-after-ms"}
    assert set(answers["400"]["headers"]) == {"x-request-id"}


async def test_no_page_is_served_that_loads_from_elsewhere() -> None:
    """The document is served; viewers that fetch scripts from other hosts are not."""
    async with client_of(make_app()) as client:
        statuses = [(await client.get(path)).status_code for path in ("/docs", "/redoc")]

    assert statuses == [404, 404]
