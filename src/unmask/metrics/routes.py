"""Instruments of routes: where requests go, what comes of it, and what choosing takes."""

from prometheus_client import CollectorRegistry, Counter


class RouteInstruments:
    """Counts what routes decide; a series is there once a route has had a request of its kind."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._decided = Counter(
            "unmask_route_decisions_total",
            "Generations that asked for a route, by why they went where they went; likely ones to the small model.",
            ("route", "reason"),
            registry=registry,
        )
        self._seconds = Counter(
            "unmask_route_decision_time_seconds_total", "Time taken to choose.", ("route",), registry=registry
        )
        self._escalated = Counter(
            "unmask_route_escalations_total",
            "Answers that took the large model after the small one: failed its verifiers, or was down.",
            ("route", "reason"),
            registry=registry,
        )
        self._steps = Counter(
            "unmask_route_steps_total",
            "Denoise steps of a route's answers, by the model that took them.",
            ("route", "model"),
            registry=registry,
        )
        self._run_seconds = Counter(
            "unmask_route_run_time_seconds_total",
            "Time in which generations of a route's answers ran, by model; those that run together count each.",
            ("route", "model"),
            registry=registry,
        )

    def decided(self, route: str, reason: str, seconds: float) -> None:
        """Count a generation that was sent to one of a route's models, and what choosing took."""
        self._decided.labels(route, reason).inc()
        self._seconds.labels(route).inc(seconds)

    def escalated(self, route: str, *, has_failed: bool) -> None:
        """Count an answer that took both models: the small one's failed its verifiers, or there was none."""
        self._escalated.labels(route, "failed" if has_failed else "unavailable").inc()

    def ran(self, route: str, model: str, steps: int, seconds: float) -> None:
        """Count what a generation took."""
        self._steps.labels(route, model).inc(steps)
        self._run_seconds.labels(route, model).inc(max(0.0, seconds))
