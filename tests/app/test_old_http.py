"""Behaviour of `unmask.app.old_http`: clients that know no chunks."""

import json

import pytest

from tests.api.sse_events import parse_stream
from tests.app.site import BODY, CHAT, open_site
from unmask.testing.scripted_backend import ScriptedBackend
from unmask.testing.speech import speak

TEXT = "안녕, 세계 🙂!"


def post_old(**changes: object) -> bytes:
    """Return a request of an old client, which does not even say whom it calls."""
    body = json.dumps(BODY | changes).encode()
    return b"POST %s HTTP/1.0\r\ncontent-length: %d\r\n\r\n%s" % (CHAT.encode(), len(body), body)


async def test_stream_ends_with_the_connection() -> None:
    """What follows the headers is the stream and nothing else, and its end is the connection's."""
    async with (
        open_site(ScriptedBackend(lambda request, _: speak(request, TEXT))) as site,
        await site.connect() as wire,
    ):
        await wire.send(post_old(stream=True))
        head, _, body = (await wire.rest()).partition(b"\r\n\r\n")

    assert head.startswith(b"HTTP/1.1 200 ")
    assert b"transfer-encoding" not in head
    assert b"connection: close" in head
    assert parse_stream(body).text() == TEXT
    assert parse_stream(body).done


@pytest.mark.parametrize(("changes", "status"), [({}, 200), ({"n": 0}, 400)])
async def test_what_has_a_length_keeps_it(changes: dict[str, object], status: int) -> None:
    """Whole answers and errors are as long as they say."""
    async with (
        open_site(ScriptedBackend(lambda request, _: speak(request, TEXT))) as site,
        await site.connect() as wire,
    ):
        await wire.send(post_old(**changes))
        answer, rest = await wire.answer(), await wire.rest()

    assert (answer.status, rest) == (status, b"")
    assert answer.json()
