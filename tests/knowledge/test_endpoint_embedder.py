"""Behaviour of vectors from a server, over a real local one."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from unmask.knowledge.endpoint_embedder import LARGEST_BATCH, EndpointEmbedder
from unmask.knowledge.retrieval_errors import EmbedderError


@contextmanager
def serving(*, status: int = 200, body: str | None = None, wait: threading.Event | None = None) -> Iterator[Any]:
    """Serve vectors of a text's length, in reverse order; or whatever else is asked for. ``seen`` has the requests."""
    seen: list[tuple[str, str | None, dict[str, Any]]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.append((self.path, self.headers.get("Authorization"), asked))
            if wait is not None:
                wait.wait(10)
            rows = [{"object": "embedding", "index": i, "embedding": [len(t), 4]} for i, t in enumerate(asked["input"])]
            content = (json.dumps({"data": rows[::-1], "usage": {}}) if body is None else body).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", seen
    finally:
        if wait is not None:
            wait.set()
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def embedder(url: str, *, key: str | None = None, timeout_s: float = 10) -> Iterator[EndpointEmbedder]:
    """Open an embedder and close it."""
    found = EndpointEmbedder(url, "small", key=key, timeout_s=timeout_s)
    try:
        yield found
    finally:
        found.close()


def test_vectors_come_in_the_order_of_texts_and_normalised() -> None:
    """The index of a row counts, not its place; Hangul goes over the wire."""
    with serving() as (url, seen), embedder(url, key="secret") as asked:
        rows = asked.embed(["abc", "가나다라"])

    np.testing.assert_allclose(rows, [[0.6, 0.8], [2**-0.5, 2**-0.5]], rtol=1e-6)
    assert rows.dtype == np.float32
    path, authorization, body = seen[0]
    assert (path, authorization) == ("/v1/embeddings", "Bearer secret")
    assert body == {"model": "small", "input": ["abc", "가나다라"], "encoding_format": "float"}


def test_many_texts_go_in_several_requests() -> None:
    """A world's statements are more than a server takes at once."""
    with serving() as (url, seen), embedder(url) as asked:
        rows = asked.embed(["x"] * (LARGEST_BATCH + 1))

    assert len(rows) == LARGEST_BATCH + 1
    assert [len(body["input"]) for _, _, body in seen] == [LARGEST_BATCH, 1]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"status": 429, "body": "slow down"}, "429"),
        ({"body": "<html>"}, "no list of embeddings"),
        ({"body": '{"data": []}'}, "0 vectors for 2 texts"),
        ({"body": '{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1, 2]}]}'}, "lengths"),
        (
            {"body": '{"data": [{"index": 0, "embedding": [1e999]}, {"index": 1, "embedding": [1]}]}'},
            "embeddings|finite",
        ),
    ],
)
def test_other_answers_are_errors(options: dict[str, Any], says: str) -> None:
    """An error status, another form and missing vectors are told, with the address."""
    with serving(**options) as (url, _), embedder(url) as asked, pytest.raises(EmbedderError, match=says):
        asked.embed(["a", "b"])


def test_no_answer_in_time_is_an_error() -> None:
    """A server that hangs does not hang the caller."""
    with (
        serving(wait=threading.Event()) as (url, _),
        embedder(url, timeout_s=0.05) as asked,
        pytest.raises(EmbedderError, match="did not answer"),
    ):
        asked.embed(["a"])


def test_no_server_is_an_error() -> None:
    """Nothing listens where nothing was started."""
    with embedder("http://127.0.0.1:1/v1") as asked, pytest.raises(EmbedderError, match="did not answer"):
        asked.embed(["a"])
