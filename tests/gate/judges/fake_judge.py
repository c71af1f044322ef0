"""A real HTTP server that speaks the APIs of judges, and replies what a test tells it to."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What the server answers a request with."""

    text: str = '{"score": 5, "reason": "fine"}'
    stop: str = "end"
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    raw: bytes | None = None


@dataclass(slots=True)
class FakeJudge:
    """The server's address, and what it was asked: path, headers and body of each request."""

    url: str
    asked: list[tuple[str, dict[str, str], Body]] = field(default_factory=list)


@contextmanager
def serving(answer: Callable[[Body], Answered]) -> Iterator[FakeJudge]:
    """Serve until the block ends; ``answer`` is called with each request's body."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body: Body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            judge.asked.append((self.path, {name.lower(): value for name, value in self.headers.items()}, body))
            answered = answer(body)
            content = envelope(self.path, answered) if answered.raw is None else answered.raw
            self.send_response(answered.status)
            for name, value in (("content-type", "application/json"), *answered.headers):
                self.send_header(name, value)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class has it so
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    judge = FakeJudge(url=f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield judge
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def envelope(path: str, answered: Answered) -> bytes:
    """Wrap a reply as the API of a path does."""
    if path.endswith("/chat/completions"):
        finish = {"end": "stop", "length": "length", "refusal": "content_filter"}[answered.stop]
        choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": answered.text}}
        return json.dumps({"object": "chat.completion", "choices": [choice]}).encode()
    stop = {"end": "end_turn", "length": "max_tokens", "refusal": "refusal"}[answered.stop]
    content = [{"type": "text", "text": answered.text}]
    return json.dumps({"type": "message", "role": "assistant", "content": content, "stop_reason": stop}).encode()


def prompt_of(body: Body) -> str:
    """Return the user message of a request of either API."""
    return str(next(message["content"] for message in body["messages"] if message["role"] == "user"))
