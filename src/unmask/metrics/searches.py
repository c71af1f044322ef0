"""Instruments of searches and of the reward endpoint that chooses among their answers."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

from prometheus_client import CollectorRegistry, Counter


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchLabels:
    """The values of labels, so that every series is there from the start, at zero.

    Attributes:
        methods: of searches.
        sources: who asks for them.
        limits: what keeps them from going on.
        rewards: what comes of asking a reward endpoint.
    """

    methods: tuple[str, ...]
    sources: tuple[str, ...]
    limits: tuple[str, ...]
    rewards: tuple[str, ...]


class SearchInstruments:
    """Counts searches, what kept them from going on, and what came of rewards.

    Args:
        registry: where it registers.
        models: names of those served.
        labels: values of the other labels.
    """

    def __init__(self, registry: CollectorRegistry, models: Iterable[str], labels: SearchLabels) -> None:
        models = tuple(models)
        self._searches = Counter(
            "unmask_searches_total",
            "Requests that were searched for a better answer, by method and by who asked for it.",
            ("model", "method", "source"),
            registry=registry,
        )
        for searched in product(models, labels.methods, labels.sources):
            self._searches.labels(*searched)
        self._limited = Counter(
            "unmask_searches_limited_total",
            "Searches that were kept from going on, by what kept them.",
            ("model", "limit"),
            registry=registry,
        )
        self._dropped = Counter(
            "unmask_search_dropped_total",
            "Generations of searches that were dropped halfway or not begun, by what kept them.",
            ("model", "limit"),
            registry=registry,
        )
        for limited in product(models, labels.limits):
            self._limited.labels(*limited)
            self._dropped.labels(*limited)
        self._rewards = Counter(
            "unmask_rewards_total",
            "Searches whose answers a reward endpoint was to choose among, by what came of it.",
            ("model", "result"),
            registry=registry,
        )
        for rewarded in product(models, labels.rewards):
            self._rewards.labels(*rewarded)

    def searched(self, model: str, method: str, source: str) -> None:
        """Count a search that has an answer."""
        self._searches.labels(model, method, source).inc()

    def limited(self, model: str, limit: str, dropped: int) -> None:
        """Count a search that was kept from going on, and the generations that this cost it."""
        self._limited.labels(model, limit).inc()
        self._dropped.labels(model, limit).inc(dropped)

    def rewarded(self, model: str, result: str) -> None:
        """Count that a reward endpoint was to choose."""
        self._rewards.labels(model, result).inc()
