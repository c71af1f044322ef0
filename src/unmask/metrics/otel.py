"""Traces by OpenTelemetry; imported only where they are asked for, since it is an extra."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from unmask.metrics.identity import installed_version
from unmask.metrics.tracing import Attributes, Span

SERVICE = "unmask"
SEND_S = 3.0
"""Seconds that a collector has to take some spans; so long may also the end of a server take."""
PATH = "/v1/traces"
"""Where a collector takes traces, behind its address."""


class OtelTracing:
    """The `Tracing` of OpenTelemetry.

    Args:
        processor: takes ended spans.
        share: of requests without a trace of their caller's that are traced.
    """

    def __init__(self, processor: SpanProcessor, share: float = 1.0) -> None:
        # The endpoint decides what is named; attributes of a resource that the environment adds are kept.
        resource = Resource.create({"service.name": SERVICE, "service.version": installed_version()})
        self._provider = TracerProvider(
            sampler=ParentBased(TraceIdRatioBased(share)), resource=resource, shutdown_on_exit=False
        )
        self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer(SERVICE)
        self._propagator = TraceContextTextMapPropagator()

    @contextmanager
    def serve(self, name: str, headers: Mapping[str, str]) -> Iterator[Span]:
        """Open the span of a request that arrived."""
        found = self._propagator.extract(headers, otel_context.Context())
        span = self._tracer.start_span(name, context=found, kind=trace.SpanKind.SERVER)
        token = otel_context.attach(trace.set_span_in_context(span))
        try:
            yield _OtelSpan(span)
        finally:
            otel_context.detach(token)
            span.end()

    @contextmanager
    def part(self, name: str) -> Iterator[Span]:
        """Open a span within the one that is open here; it is no parent, so that generators may be closed anywhere."""
        span = self._tracer.start_span(name)
        try:
            yield _OtelSpan(span)
        finally:
            span.end()

    def close(self) -> None:
        """Send what is left, and stop."""
        self._provider.shutdown()


class _OtelSpan:
    def __init__(self, span: trace.Span) -> None:
        self._span = span

    def note(self, attributes: Attributes) -> None:
        self._span.set_attributes(dict(attributes))

    def fail(self, kind: str) -> None:
        self._span.set_attribute("error.type", kind)
        self._span.set_status(trace.StatusCode.ERROR)


def open_otel_tracing(endpoint: str, share: float) -> OtelTracing:
    """Return what sends traces to a collector, by OTLP over HTTP, in a thread of its own.

    What the collector does not take is dropped. Headers that it asks for are those of ``OTEL_EXPORTER_OTLP_HEADERS``,
    which is read here by the exporter.
    """
    exporter = OTLPSpanExporter(endpoint=endpoint.rstrip("/") + PATH, timeout=SEND_S)
    return OtelTracing(BatchSpanProcessor(exporter), share)
