"""The endpoints for whoever runs the server: health and metrics."""

from dataclasses import dataclass

from fastapi import FastAPI
from prometheus_client import CollectorRegistry
from starlette.requests import Request as HttpRequest
from starlette.responses import PlainTextResponse, Response

from unmask.api.authentication import require_role
from unmask.api.documented import Health, Replica
from unmask.api.documented_metrics import METRICS
from unmask.api.responses import json_response
from unmask.api.running import Running
from unmask.backend import Backend
from unmask.control.controller import Controller
from unmask.load import EngineState, ModelLoad
from unmask.metrics.exposition import expose
from unmask.service import QueueLoad
from unmask.tenants.role import KeyRole
from unmask.work import PageAlert

HEALTH = "/health"
READY = "/health/ready"
LIVE = "/health/live"
METRICS_PATH = "/metrics"
OPEN_PATHS = frozenset({HEALTH, READY, LIVE})
"""Where no key is ever asked for: whoever starts, stops and balances servers has none."""
PATHS = OPEN_PATHS | {METRICS_PATH}
"""Where probes are answered, also when nothing else is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probes:
    """Answers from what is known at the moment, so also while the server drains or an engine hangs."""

    backend: Backend
    running: Running
    control: Controller
    registry: CollectorRegistry

    async def health(self) -> Response:
        """Answer 200 while requests are taken, else 503; the body says why."""
        return self._answer(holds=self._is_ready)

    async def ready(self) -> Response:
        """Answer 200 while requests are taken, else 503: for whoever sends requests here or elsewhere."""
        return self._answer(holds=self._is_ready)

    async def live(self) -> Response:
        """Answer 200, or 503 once only a restart helps: for whoever restarts servers."""
        return self._answer(holds=self._is_live)

    async def metrics(self, http: HttpRequest) -> Response:
        """Write all metrics as Prometheus text, or as OpenMetrics where `accept` asks for it; for operators."""
        require_role(http, (KeyRole.OPERATOR,))
        found = expose(self.registry, http.headers.get("accept"))
        return Response(found.body, headers={"content-type": found.content_type})

    @property
    def _reasons(self) -> tuple[str, ...]:
        return self.running.reasons() + self.backend.problems() + self.control.problems()

    @property
    def _is_ready(self) -> bool:
        return not self._reasons

    @property
    def _is_live(self) -> bool:
        # At the end of a drain the engines stop because they are told to.
        return self.running.is_draining or all(load.state is EngineState.RUNNING for load in self.backend.load())

    @property
    def _notes(self) -> tuple[str, ...]:
        behind = (
            f"{load.model}: requests of {_queue_name(queue)} have waited {queue.oldest_s:.0f} s, "
            f"and {queue.patience_s:g} s is as long as they should"
            for load in self.backend.load()
            for queue in load.queues
            if queue.is_behind
        )
        return (*self.control.notes(self.backend.models()), *behind)

    @property
    def _degraded(self) -> tuple[str, ...]:
        full = (_page_alert(load) for load in self.backend.load() if load.page_alert is not PageAlert.NONE)
        return (*self.control.degraded(), *full)

    @property
    def _replicas(self) -> list[Replica]:
        return [
            Replica(
                model=load.model,
                name=one.name,
                running=one.running,
                waiting=one.waiting,
                prefix_hit_rate=one.hit_rate,
                problem=one.problem,
            )
            for load in self.backend.load()
            for one in load.replicas
        ]

    def _answer(self, *, holds: bool) -> Response:
        body = {
            "live": self._is_live,
            "ready": self._is_ready,
            "reasons": self._reasons,
            "degraded": self._degraded,
            "notes": self._notes,
            "replicas": [one.model_dump() for one in self._replicas],
        }
        return json_response(body, status=200 if holds else 503)


def _queue_name(queue: QueueLoad) -> str:
    bucket = "no bucket" if queue.bucket is None else f"bucket {queue.bucket}"
    return f"class {queue.service_class}, {bucket}" if queue.service_class else bucket


def _page_alert(load: ModelLoad) -> str:
    return (
        f"{load.model}: {load.kv_pages_used} of {load.kv_pages} KV pages are in use ({load.page_alert}); "
        f"{load.waiting} requests wait"
    )


def add_probes(app: FastAPI, probes: Probes) -> None:
    """Add the endpoints to an application."""
    for path, summary, answer in (
        (HEALTH, "Say whether requests are taken, and if not, why", probes.health),
        (READY, "Say whether to send requests here", probes.ready),
        (LIVE, "Say whether to leave the process running", probes.live),
    ):
        app.get(path, summary=summary, responses={200: {"model": Health}, 503: {"model": Health}})(answer)
    app.get(METRICS_PATH, summary="Write the metrics", response_class=PlainTextResponse, responses={200: METRICS})(
        probes.metrics
    )
