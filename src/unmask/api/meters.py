"""Joins the instruments of `unmask.metrics` to one application."""

from dataclasses import dataclass

from prometheus_client import CollectorRegistry, ProcessCollector

from unmask.api.running import Running
from unmask.backend import Backend
from unmask.control.attempt import LATER
from unmask.control.budget import BudgetSource
from unmask.metrics.control import ControlInstruments
from unmask.metrics.generations import GenerationInstruments
from unmask.metrics.http import HttpInstruments
from unmask.metrics.identity import register_identity
from unmask.metrics.load import LoadCollector
from unmask.metrics.refusals import RefusalInstruments
from unmask.metrics.replicas import ReplicaCollector


@dataclass(frozen=True, slots=True, kw_only=True)
class Meters:
    """The instruments of one application, all of them in one registry."""

    registry: CollectorRegistry
    http: HttpInstruments
    generations: GenerationInstruments
    control: ControlInstruments
    refusals: RefusalInstruments


def make_meters(backend: Backend, running: Running, registry: CollectorRegistry) -> Meters:
    """Register everything that `/metrics` shows."""
    models = backend.models()
    http = HttpInstruments(
        registry,
        open_requests=lambda: running.count,
        limit=running.limit,
        is_draining=lambda: running.is_draining,
    )
    generations = GenerationInstruments(registry, [model.name for model in models])
    LoadCollector(registry, backend.load)
    ReplicaCollector(registry, backend.load)
    register_identity(registry, models)
    ProcessCollector(registry=registry)
    control = ControlInstruments(registry, [model.name for model in models], BudgetSource, LATER)
    refusals = RefusalInstruments(registry)
    return Meters(registry=registry, http=http, generations=generations, control=control, refusals=refusals)
