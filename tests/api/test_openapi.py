"""The OpenAPI document says what the server does."""

from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from tests.api.client import CHAT, chat_body, client_of, make_app
from unmask.api.documented import ChatCompletion, ErrorBody, Health, ModelEntry, ModelList
from unmask.api.schema import EXAMPLE


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


async def test_no_page_is_served_that_loads_from_elsewhere() -> None:
    """The document is served; viewers that fetch scripts from other hosts are not."""
    async with client_of(make_app()) as client:
        statuses = [(await client.get(path)).status_code for path in ("/docs", "/redoc")]

    assert statuses == [404, 404]
