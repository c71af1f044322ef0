"""Joins the instruments of `unmask.metrics` to one application."""

from dataclasses import dataclass

from prometheus_client import CollectorRegistry, ProcessCollector

from unmask.api.running import Running
from unmask.backend import Backend
from unmask.cache.cache import AnswerCache, Match
from unmask.cache.guard import Difference
from unmask.cache.store import Gone
from unmask.control.attempt import LATER
from unmask.control.budget import BudgetSource
from unmask.control.cache_audits import HITS, AuditResult
from unmask.control.cached import VERIFIER
from unmask.control.search_choice import SearchSource
from unmask.metrics.cache import CacheInstruments, CacheLabels, CacheState
from unmask.metrics.control import ControlInstruments
from unmask.metrics.generations import GenerationInstruments
from unmask.metrics.http import HttpInstruments
from unmask.metrics.identity import register_identity
from unmask.metrics.load import LoadCollector
from unmask.metrics.refusals import RefusalInstruments
from unmask.metrics.replicas import ReplicaCollector
from unmask.metrics.searches import SearchInstruments, SearchLabels
from unmask.search.reward import RewardEnd
from unmask.search.running import Limit
from unmask.service import SearchMethod
from unmask.stats import Interval, wilson

_SEARCH_LABELS = SearchLabels(
    methods=tuple(method for method in SearchMethod if method is not SearchMethod.NONE),
    sources=tuple(SearchSource),
    limits=tuple(Limit),
    rewards=tuple(RewardEnd),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Meters:
    """The instruments of one application, all of them in one registry."""

    registry: CollectorRegistry
    http: HttpInstruments
    generations: GenerationInstruments
    control: ControlInstruments
    refusals: RefusalInstruments
    cache: CacheInstruments
    searches: SearchInstruments


def make_meters(
    backend: Backend, running: Running, registry: CollectorRegistry, cache: AnswerCache | None = None
) -> Meters:
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
    return Meters(
        registry=registry,
        http=http,
        generations=generations,
        control=control,
        refusals=RefusalInstruments(registry),
        cache=CacheInstruments(
            registry, [model.name for model in models], _CACHE_LABELS, _rate, lambda: _state_of(cache)
        ),
        searches=SearchInstruments(registry, [model.name for model in models], _SEARCH_LABELS),
    )


_CACHE_LABELS = CacheLabels(
    matches=tuple(Match), hits=HITS, kept_out=(*Difference, VERIFIER), gone=tuple(Gone), results=tuple(AuditResult)
)


def _rate(false: int, compared: int) -> tuple[float, float, float]:
    """Return a rate with its interval; where nothing was compared, from none to all may be false."""
    found = wilson(false, compared)
    return (found.estimate, found.low, found.high) if isinstance(found, Interval) else (0.0, 0.0, 1.0)


def _state_of(cache: AnswerCache | None) -> CacheState:
    if cache is None:
        return CacheState()
    return CacheState(
        entries=len(cache.store),
        bytes=cache.store.bytes,
        is_embedder_up=cache.is_embedder_up,
        embedder_failures=cache.embedder_failures,
        gone={reason.value: count for reason, count in cache.store.gone.items()},
    )
