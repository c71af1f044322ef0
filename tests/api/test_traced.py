"""What is told of requests in traces."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes
from opentelemetry.trace import SpanContext, SpanKind, StatusCode

from tests.api.client import CHAT, COMPLETIONS, chat_body, client_of, completion_body, make_app
from tests.api.raw_client import RawClient
from unmask.backend import Backend
from unmask.metrics.otel import OtelTracing
from unmask.testing.fake_backend import FakeBackend
from unmask.testing.waiting import until

SECRET = "the launch code is 4711"
TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
CALLERS = {"traceparent": f"00-{TRACE}-{PARENT}-01"}
PAGE = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text(encoding="utf-8")


class Site:
    """An application, and the spans of its requests."""

    def __init__(self, backend: Backend | None = None, *, share: float = 1.0) -> None:
        self._spans = InMemorySpanExporter()
        self.tracing = OtelTracing(SimpleSpanProcessor(self._spans), share)
        self.app = make_app(backend or FakeBackend(), tracing=self.tracing)

    async def post(self, path: str, body: dict[str, Any], headers: Mapping[str, str] | None = None) -> int:
        """Send a request; return the status of its answer."""
        async with client_of(self.app) as client:
            return (await client.post(path, json=body, headers=headers)).status_code

    @property
    def spans(self) -> tuple[ReadableSpan, ...]:
        """All spans, in the order of their ends."""
        return self._spans.get_finished_spans()

    @property
    def request(self) -> ReadableSpan:
        """The one span of a request."""
        (span,) = (span for span in self.spans if span.kind is SpanKind.SERVER)
        return span

    @property
    def generations(self) -> list[ReadableSpan]:
        """The spans of generations."""
        return [span for span in self.spans if span.name == "generate"]


def place(span: ReadableSpan) -> SpanContext:
    """Return which span of which trace it is."""
    context = span.get_span_context()
    assert context is not None
    return context


def read(span: ReadableSpan) -> dict[str, Any]:
    """Return the attributes of a span."""
    return dict(span.attributes or {})


@pytest.mark.parametrize("stream", [False, True])
async def test_a_request_tells_what_was_asked_and_what_it_cost(stream: bool) -> None:
    """In the words of the GenAI conventions, and in our own where they have none for steps."""
    site = Site()
    assert await site.post(CHAT, chat_body(stream=stream, max_tokens=20, temperature=0.5, seed=3)) == 200
    found = read(site.request)
    expected = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "unmask",
        "gen_ai.request.model": "tiny",
        "gen_ai.request.max_tokens": 20,
        "gen_ai.request.temperature": 0.5,
        "gen_ai.request.seed": 3,
        "gen_ai.request.stream": stream,
        "gen_ai.response.model": "tiny",
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.output_tokens": 6,
        "unmask.steps.used": 4,
        "unmask.steps.allocated": 16,
        "unmask.reexpansions": 0,
        "unmask.steps.reexpansion": 0,
        "unmask.exit_reason": "converged",
        "unmask.verify": "skipped",
        "unmask.policy": "fixed",
        "http.response.status_code": 200,
        "http.route": CHAT,
    }

    assert {name: found.get(name) for name in expected} == expected
    assert found["gen_ai.response.id"].startswith("chatcmpl-")
    assert found["unmask.request_id"].startswith("req-")
    assert site.request.status.status_code is StatusCode.UNSET


async def test_generations_are_parts_of_their_request() -> None:
    """One for each, within its span; with what it took."""
    site = Site()
    await site.post(COMPLETIONS, completion_body(n=2))
    parents = {span.parent.span_id for span in site.generations if span.parent is not None}

    assert site.request.name == "text_completion"
    assert len(site.generations) == read(site.request)["gen_ai.request.choice.count"] == 2
    assert parents == {place(site.request).span_id}
    assert [read(span)["unmask.steps.used"] for span in site.generations] == [4, 4]
    assert read(site.generations[0])["unmask.outcome"] == "completed"


async def test_a_request_joins_the_trace_of_its_caller() -> None:
    """And begins one of its own where there is none."""
    site = Site()
    await site.post(CHAT, chat_body(), CALLERS)
    parent = site.request.parent

    assert parent is not None
    assert (f"{parent.trace_id:032x}", f"{parent.span_id:016x}") == (TRACE, PARENT)
    other = Site()
    await other.post(CHAT, chat_body(), {"traceparent": "nonsense"})
    assert other.request.parent is None


async def test_of_requests_without_a_trace_a_share_is_traced() -> None:
    """None here; who traces its own request is heard all the same."""
    site = Site(share=0.0)
    await site.post(CHAT, chat_body())
    assert site.spans == ()
    await site.post(CHAT, chat_body(), CALLERS)
    assert len(site.generations) == 1


async def test_two_requests_at_once_are_two_traces() -> None:
    """What runs at the same time is kept apart."""
    site = Site(FakeBackend(step_s=0.001))
    await asyncio.gather(*(site.post(CHAT, chat_body()) for _ in range(5)))
    of_requests = {place(span).trace_id for span in site.spans if span.kind is SpanKind.SERVER}

    assert len(of_requests) == 5
    assert {place(span).trace_id for span in site.generations} == of_requests


async def test_refusals_and_failures_say_their_code(caplog: pytest.LogCaptureFixture) -> None:
    """A wrong field, and a backend that breaks: the code of the error, and no word of its message."""
    refused = Site()
    assert await refused.post(CHAT, chat_body(temperature=SECRET)) == 400
    broken = Site(FakeBackend(error=RuntimeError(SECRET)))
    assert await broken.post(CHAT, chat_body()) == 500

    assert read(refused.request)["error.type"] == "invalid_value"
    assert refused.request.status.status_code is StatusCode.ERROR
    assert read(broken.generations[0])["error.type"] == "RuntimeError"
    assert SECRET not in everything(refused) + everything(broken)


async def test_who_hangs_up_leaves_a_span_of_an_aborted_generation() -> None:
    """And the request's own ends as well."""
    gate = asyncio.Event()
    backend = FakeBackend(gate=gate)
    site = Site(backend)
    wire = RawClient(json.dumps(chat_body(stream=True)).encode())
    call = asyncio.create_task(wire.call(site.app))
    await until(lambda: bool(backend.requests))
    wire.hung_up.set()
    await call

    assert [read(span)["unmask.outcome"] for span in site.generations] == ["aborted"]
    assert site.request.end_time is not None


@pytest.mark.parametrize("stream", [False, True])
async def test_nothing_that_is_said_is_told(stream: bool) -> None:
    """Neither prompt nor answer, user, stop sequences or schema, whatever comes of it."""
    site = Site(FakeBackend(f"{SECRET} indeed"))
    body = chat_body(stream=stream, stop=["jumps"], user=SECRET)
    body["messages"] = [{"role": "user", "content": SECRET}]
    body["diffusion"] = {"verify": [{"kind": "regex", "pattern": f"{SECRET}.*"}]}
    assert await site.post(CHAT, body) == 200
    assert await site.post(CHAT, {"model": SECRET, SECRET: 1}) >= 400

    assert "launch" not in everything(site)
    assert "jumps" not in everything(site)


async def test_probes_leave_no_traces() -> None:
    """They come every few seconds."""
    site = Site()
    async with client_of(site.app) as client:
        await client.get("/health")
        await client.get("/metrics")
        await client.get("/v1/models")

    assert site.spans == ()


async def test_every_attribute_is_one_of_the_conventions_or_our_own_and_documented() -> None:
    """Names of the GenAI conventions are theirs; the page lists all."""
    site = Site()
    await site.post(CHAT, chat_body())
    names = {name for span in site.spans for name in read(span)}
    known = {value for name, value in vars(gen_ai_attributes).items() if name.startswith("GEN_AI")}

    assert {name for name in names if name.startswith("gen_ai.")} <= known
    assert {name for name in names if not name.startswith(("gen_ai.", "unmask.", "http.", "error."))} == set()
    assert [name for name in sorted(names) if f"`{name}`" not in PAGE] == []


def everything(site: Site) -> str:
    """Return all that a collector would get."""
    return "".join(span.to_json() for span in site.spans)
