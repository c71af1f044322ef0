"""Instruments of HTTP requests: how many, how they end, and how long they take."""

from collections.abc import Callable
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

DURATIONS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
OVERHEADS_S = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.015, 0.025, 0.05, 0.1, 0.25, 1.0)
NO_STATUS = "none"
"""Status of a request that was given up before its answer began."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One HTTP request that is over.

    Attributes:
        endpoint: the path as the server knows it, never as the client wrote it.
        status: of the answer; ``None`` where none was begun.
        error_code: ``code`` of the error body, if the answer was an error.
        hung_up: whether the client left before the answer was complete.
        seconds: from the first to the last byte, as the server sees them.
        overhead_s: seconds of it in the server and outside the backend; ``None`` where nothing was to be generated.
    """

    endpoint: str
    status: int | None
    error_code: str | None
    hung_up: bool
    seconds: float
    overhead_s: float | None


class HttpInstruments:
    """Counts exchanges; registers itself with a registry.

    Args:
        registry: where to.
        open_requests: how many generating requests are being served.
        limit: how many may be.
        is_draining: whether the server takes nothing new.
    """

    def __init__(
        self,
        registry: CollectorRegistry,
        *,
        open_requests: Callable[[], int],
        limit: int,
        is_draining: Callable[[], bool],
    ) -> None:
        self._requests = Counter(
            "unmask_requests_total",
            "HTTP requests, by endpoint and status of the answer.",
            ("endpoint", "status"),
            registry=registry,
        )
        self._errors = Counter(
            "unmask_errors_total", "HTTP requests answered with an error, by its code.", ("code",), registry=registry
        )
        self._disconnects = Counter(
            "unmask_disconnects_total",
            "HTTP requests whose client hung up before the answer was complete.",
            ("endpoint",),
            registry=registry,
        )
        self._seconds = Histogram(
            "unmask_request_duration_seconds",
            "Time from a request's arrival to the last byte of its answer; without clients that hung up.",
            ("endpoint",),
            buckets=DURATIONS_S,
            registry=registry,
        )
        self._overhead = Histogram(
            "unmask_request_overhead_seconds",
            "Time the server added to an answered generation: before the backend had it, and after its last word.",
            buckets=OVERHEADS_S,
            registry=registry,
        )
        Gauge("unmask_requests_open", "Generations that run or wait, over all models.", registry=registry).set_function(
            open_requests
        )
        Gauge(
            "unmask_requests_open_limit",
            "Generations of one service class that may run or wait; one more is refused.",
            registry=registry,
        ).set(limit)
        Gauge(
            "unmask_draining", "1 once the server shuts down and takes nothing new, else 0.", registry=registry
        ).set_function(is_draining)

    def ended(self, exchange: Exchange) -> None:
        """Count a request that is over."""
        status = NO_STATUS if exchange.status is None else str(exchange.status)
        self._requests.labels(exchange.endpoint, status).inc()
        if exchange.error_code is not None:
            self._errors.labels(exchange.error_code).inc()
        if exchange.hung_up:
            self._disconnects.labels(exchange.endpoint).inc()
            return
        self._seconds.labels(exchange.endpoint).observe(exchange.seconds)
        if exchange.overhead_s is not None and exchange.error_code is None:
            self._overhead.observe(exchange.overhead_s)
