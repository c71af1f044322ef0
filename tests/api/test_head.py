"""Behaviour of `unmask.api.head`."""

import pytest

from tests.api.client import CHAT, client_of, make_app


@pytest.mark.parametrize("path", ["/health", "/v1/models", "/v1/models/tiny", "/v1/models/none", "/nowhere", CHAT])
async def test_head_is_get_without_the_body(path: str) -> None:
    """Status and headers are those of GET, length included, whatever the endpoint says."""
    async with client_of(make_app()) as client:
        asked, got = await client.head(path), await client.get(path)

    kept = {name: value for name, value in got.headers.items() if name != "x-request-id"}
    assert asked.status_code == got.status_code
    assert {name: value for name, value in asked.headers.items() if name != "x-request-id"} == kept
    assert asked.content == b""
    assert got.content
