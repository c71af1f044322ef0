"""Behaviour of the application as a whole."""

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.api.client import CHAT, chat_body, client_of, make_app
from unmask.api.chat_schema import ChatBody
from unmask.api.effort import Effort
from unmask.api.refusals import CHAT as REFUSED
from unmask.api.schema import DiffusionOptions, ServiceTier

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text(max_size=8), below, max_size=4),
    max_leaves=12,
)
DIFFUSION_OBJECT = st.dictionaries(st.sampled_from([*DiffusionOptions.model_fields, "other"]), JSON)
PART = st.fixed_dictionaries({}, optional={"type": st.just("text") | JSON, "text": st.text(max_size=8) | JSON})
MESSAGE = st.fixed_dictionaries(
    {},
    optional={
        "role": st.sampled_from(["system", "developer", "user", "assistant"]) | JSON,
        "content": st.text(max_size=8) | st.lists(PART, max_size=3) | JSON,
        "name": JSON,
    },
)
SCHEMA = st.dictionaries(
    st.sampled_from(["type", "properties", "items", "allOf", "$ref", "$schema", "$id", "pattern", "enum", "minimum"]),
    JSON | st.sampled_from(["object", "#", "#/properties/a", "http://127.0.0.1:9/x", "(", "(?=a)", ["integer"]]),
)
RESPONSE_FORMAT = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "json_object", "json_schema"]) | JSON},
    optional={
        "json_schema": st.fixed_dictionaries(
            {"name": st.just("a") | JSON, "schema": SCHEMA | JSON}, optional={"strict": JSON, "description": JSON}
        )
        | JSON
    },
)
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "model": st.sampled_from(["tiny", "nano", "other"]) | JSON,
    "messages": st.lists(MESSAGE, max_size=3) | JSON,
    "diffusion": DIFFUSION_OBJECT | JSON,
    "n": st.integers(0, 20) | JSON,
    "reasoning_effort": st.sampled_from(Effort) | JSON,
    "response_format": RESPONSE_FORMAT | JSON,
    "service_tier": st.sampled_from(ServiceTier) | JSON,
    "stream": st.booleans() | JSON,
    "stream_options": st.fixed_dictionaries({}, optional={"include_usage": st.booleans() | JSON, "other": JSON}) | JSON,
    "vllm_xargs": st.dictionaries(st.sampled_from(["diffusion_max_steps", "diffusion_canvas_length"]), JSON) | JSON,
}
ANY_BODY = st.fixed_dictionaries(
    {}, optional={name: FIELDS.get(name, JSON) for name in (*ChatBody.model_fields, *REFUSED, "other")}
)
APP = make_app()
"""Built once: examples are many and the application keeps nothing between them."""


def encode(body: object) -> bytes:
    """Write JSON; what UTF-8 cannot hold becomes an escape."""
    return json.dumps(body).encode()


@given(body=JSON | ANY_BODY | ANY_BODY.map(lambda body: chat_body(**body)))
async def test_no_json_body_is_a_server_error(body: object) -> None:
    """Whatever is sent is answered with a success or with an error that names what is wrong."""
    async with client_of(APP) as client:
        response = await client.post(CHAT, content=encode(body))

    assert response.status_code in {200, 400, 404}
    assert response.status_code == 200 or set(response.json()["error"]) == {"message", "type", "param", "code"}


@given(raw=st.binary(max_size=64))
async def test_no_bytes_are_a_server_error(raw: bytes) -> None:
    """Neither is anything that is not JSON."""
    async with client_of(APP) as client:
        response = await client.post(CHAT, content=raw)

    assert response.status_code == 400


@pytest.mark.parametrize("path", ["/", "/v1/chat/completion", "/v1/completion", "/v1/chat/completions/", "/metric"])
async def test_wrong_path_is_404(path: str) -> None:
    """An unknown path is not found, in the shape of every other error."""
    async with client_of(make_app()) as client:
        response = await client.post(path, json=chat_body())

    assert response.status_code == 404
    assert response.json()["error"]["code"] == "unknown_path"
    assert path in response.json()["error"]["message"]


@pytest.mark.parametrize(("method", "path"), [("GET", CHAT), ("DELETE", "/v1/models"), ("OPTIONS", CHAT)])
async def test_wrong_method_is_405(method: str, path: str) -> None:
    """A known path with another method says which one it takes."""
    async with client_of(make_app()) as client:
        response = await client.request(method, path)

    assert response.status_code == 405
    assert response.json()["error"]["code"] == "method_not_allowed"
    assert response.headers["allow"] in response.json()["error"]["message"]


def test_importing_reaches_no_torch() -> None:
    """A server in front of someone else's engine, and the command line's help, need no torch."""
    modules = "unmask.api.application, unmask.app.serve, unmask.app.local, unmask.cli.entry, unmask.cli.generate"
    code = f"import sys, {modules}; sys.exit('torch' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
