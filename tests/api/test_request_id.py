"""Behaviour of `unmask.api.request_id`."""

import pytest
from starlette.types import Message, Receive, Scope, Send

from tests.api.client import CHAT, chat_body, client_of, make_app
from unmask.api.request_id import LONGEST_ID, RequestIds


@pytest.mark.parametrize("given", ["abc-123", "x", "with space", "!~", "x" * LONGEST_ID])
async def test_clients_id_is_echoed(given: str) -> None:
    """An id of printable ASCII within the length comes back unchanged."""
    async with client_of(make_app()) as client:
        response = await client.post(CHAT, json=chat_body(), headers={"x-request-id": given})

    assert response.headers["x-request-id"] == given


@pytest.mark.parametrize("given", [b"", b"x" * (LONGEST_ID + 1), "한글".encode(), b"a\tb", b"\x7f", b"caf\xe9"])
async def test_other_id_is_replaced(given: bytes) -> None:
    """An id that is too long or not printable ASCII is not repeated; the server makes one."""
    async with client_of(make_app()) as client:
        response = await client.post(CHAT, json=chat_body(), headers={b"x-request-id": given})

    assert response.headers["x-request-id"] == "req-1"


async def test_every_answer_has_an_id() -> None:
    """Errors, unknown paths and health have one too, and each its own."""
    async with client_of(make_app()) as client:
        responses = [
            await client.get("/health"),
            await client.get("/nowhere"),
            await client.post(CHAT, content=b"x"),
            await client.put("/v1/models"),
        ]

    assert len({response.headers["x-request-id"] for response in responses}) == 4


async def test_failure_after_the_start_is_raised() -> None:
    """With half an answer on the wire there is nothing left to say; the server closes the connection."""

    async def broken(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise ZeroDivisionError

    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    with pytest.raises(ZeroDivisionError):
        await RequestIds(broken, new_id=lambda: "1")({"type": "http", "headers": []}, receive, send)

    assert [message["type"] for message in sent] == ["http.response.start"]


async def test_other_protocols_pass() -> None:
    """What is not HTTP is handed on untouched."""
    seen: list[Scope] = []

    async def app(scope: Scope, _receive: Receive, _send: Send) -> None:
        seen.append(scope)

    async def receive() -> Message:
        return {}

    async def send(_: Message) -> None: ...

    await RequestIds(app, new_id=lambda: "1")({"type": "lifespan"}, receive, send)

    assert seen == [{"type": "lifespan"}]
