"""Clients that do not read, over real sockets: what a server writes has to go somewhere."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from tests.api.client import CHAT, chat_body
from tests.api.sse_events import parse_stream
from tests.clients.server import eventually, serving
from unmask.api.event_stream import StreamPace
from unmask.backend import DraftPiece, Request, StepEvent
from unmask.testing.scripted_backend import Line, ScriptedBackend

WIDE = StepEvent(canvas=0, step=1, max_steps=1, pieces=(DraftPiece(text="x" * 100_000, fixed=True),))
BODY = json.dumps(chat_body(stream=True, diffusion={"stream": "snapshots"})).encode()
REQUEST = b"POST %s HTTP/1.1\r\nhost: localhost\r\ncontent-length: %d\r\n\r\n%s" % (CHAT.encode(), len(BODY), BODY)


def endless(_request: Request, _earlier: int) -> Iterator[Line]:
    """Show wide drafts for as long as somebody listens."""
    while True:
        yield WIDE


@contextmanager
def deaf_client(url: str) -> Iterator[socket.socket]:
    """Ask for a stream and read nothing of it."""
    host, port = url.removeprefix("http://").split(":")
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect((host, int(port)))
        connection.sendall(REQUEST)
        yield connection


def test_deaf_client_is_given_up() -> None:
    """Its generation ends although it keeps the connection."""
    backend = ScriptedBackend(endless)
    with serving(backend, pace=StreamPace(stalled_s=0.1)) as site, deaf_client(site.url):
        eventually(lambda: backend.aborted == 1)
        eventually(lambda: site.running.count == 0)

    assert backend.open == 0


def test_deaf_client_that_leaves_is_missed() -> None:
    """A connection that closes with the server in the middle of writing ends its generation."""
    backend = ScriptedBackend(endless)
    with serving(backend, pace=StreamPace(stalled_s=3600)) as site:
        with deaf_client(site.url):
            eventually(lambda: backend.open == 1)
        eventually(lambda: backend.aborted == 1)
        eventually(lambda: site.running.count == 0)


def test_others_are_served_meanwhile() -> None:
    """A client that does not read takes its own place and nobody else's."""
    backend = ScriptedBackend(endless)
    with serving(backend, pace=StreamPace(stalled_s=3600)) as site:
        with deaf_client(site.url):
            eventually(lambda: backend.open == 1)
            assert httpx.get(f"{site.url}/health").json()["ready"]
            with httpx.stream("POST", f"{site.url}{CHAT}", content=BODY) as response:
                first = next(response.iter_bytes())
        eventually(lambda: backend.open == 0)

    assert parse_stream(first[: first.index(b"\n\n") + 2]).chunks
