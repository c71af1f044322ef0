"""Behaviour of `unmask.app.tracing`, and of traces on their way to a collector."""

import builtins
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.app.site import BODY, CHAT, open_site
from unmask.api.application import create_app, system_chance
from unmask.api.running import Running
from unmask.app.tracing import opened_tracing
from unmask.config import Settings
from unmask.errors import ConfigError
from unmask.testing.fake_backend import FakeBackend


class Collector(HTTPServer):
    """Takes what is sent to it."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Taking)
        self.taken: list[tuple[str, bytes]] = []

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_port}"


class Taking(BaseHTTPRequestHandler):
    """Answers every request with nothing."""

    server: Collector

    def do_POST(self) -> None:
        """Keep the body."""
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.taken.append((self.path, body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: Any) -> None:  # noqa: ANN401 - as in the library
        """Say nothing."""


@contextmanager
def collector() -> Iterator[Collector]:
    """Run a collector."""
    server = Collector()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_without_an_address_there_are_none() -> None:
    """The default."""
    with opened_tracing(Settings()) as tracing:
        assert tracing is None


def test_missing_library_is_said_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that is asked for traces and cannot send them does not start."""
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:  # noqa: ANN401 - as the builtin has it
        if name == "unmask.metrics.otel":
            raise ModuleNotFoundError("no", name="opentelemetry.sdk")
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    settings = Settings(otlp_endpoint="http://127.0.0.1:1")
    with (
        pytest.raises(ConfigError, match=r"opentelemetry\.sdk is not installed.*\[otel\]") as raised,
        opened_tracing(settings),
    ):
        pass
    assert raised.value.param == "otlp_endpoint"


async def test_spans_reach_the_collector_by_the_end() -> None:
    """What is left is sent when the server stops: a request's span and its generation's, and nothing that was said."""
    with collector() as there:
        settings = Settings(otlp_endpoint=f"{there.url}/")
        with opened_tracing(settings) as tracing:
            backend = FakeBackend("the answer is 42")
            app = create_app(backend, settings, Running(9), system_chance(), tracing=tracing)
            async with open_site(backend, app) as site:
                assert (await site.client.post(CHAT, json=BODY)).status_code == 200
                await site.stop()
        ((path, body),) = there.taken
    request = ExportTraceServiceRequest.FromString(body)
    (resource,) = request.resource_spans
    spans = [span for scope in resource.scope_spans for span in scope.spans]

    assert path == "/v1/traces"
    assert {entry.key: entry.value.string_value for entry in resource.resource.attributes}["service.name"] == "unmask"
    assert sorted(span.name for span in spans) == ["chat", "generate"]
    assert b"add 1" not in body
    assert b"the answer" not in body
