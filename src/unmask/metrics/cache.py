"""Instruments of answers from the cache."""

from collections import Counter as Tally
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import TypeAlias

from prometheus_client import CollectorRegistry, Counter
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

FALSE = "false"
BOUNDS = ("estimate", "low", "high")

Rate: TypeAlias = Callable[[int, int], tuple[float, float, float]]
"""From how many of how many to the estimate of a rate and the ends of its interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheState:
    """What a cache holds, and whether its embedder answers; without a cache nothing, and it does.

    Attributes:
        gone: entries that are kept no longer, by why.
        embedder_failures: times that the embedder did not answer.
    """

    entries: int = 0
    bytes: int = 0
    is_embedder_up: bool = True
    embedder_failures: int = 0
    gone: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheLabels:
    """Values of labels, so that every series is there from the start.

    Attributes:
        matches: how answers are found; ``hits`` those of them that find one.
        kept_out: what keeps an answer out.
        gone: why entries go.
        results: how hits that were generated again compare.
    """

    matches: tuple[str, ...]
    hits: tuple[str, ...]
    kept_out: tuple[str, ...]
    gone: tuple[str, ...]
    results: tuple[str, ...]


class CacheInstruments(Collector):
    """Counts look-ups, and writes what the cache holds as of the moment it is asked.

    Args:
        registry: where it registers.
        models: names of those served.
        labels: what may happen.
        rate: makes an interval of counts.
        state: what the cache holds.
    """

    def __init__(
        self,
        registry: CollectorRegistry,
        models: Iterable[str],
        labels: CacheLabels,
        rate: Rate,
        state: Callable[[], CacheState] = CacheState,
    ) -> None:
        self._state = state
        self._rate = rate
        self._hits = labels.hits
        self._reasons = labels.gone
        self._compared_of: Tally[tuple[str, str]] = Tally()
        self._lookups = Counter(
            "unmask_cache_lookups_total",
            "Requests that the cache was asked for, by how an answer was found; miss: it was generated, also where a "
            "hit is generated again to be compared.",
            ("model", "match"),
            registry=registry,
        )
        self._waits = Counter(
            "unmask_cache_waits_total",
            "Requests that came while the very same one was being answered, and waited for that.",
            ("model",),
            registry=registry,
        )
        self._kept_out = Counter(
            "unmask_cache_kept_out_total",
            "Requests that an answer was near to and not given, by what kept it out.",
            ("reason",),
            registry=registry,
        )
        self._compared = Counter(
            "unmask_cache_compared_total",
            "Hits that were generated again, by how they were found and what the kept answer was beside the new one.",
            ("match", "result"),
            registry=registry,
        )
        models = tuple(models)
        for model in models:
            self._waits.labels(model)
        for pair in product(models, labels.matches):
            self._lookups.labels(*pair)
        for pair in product(labels.hits, labels.results):
            self._compared.labels(*pair)
        for reason in labels.kept_out:
            self._kept_out.labels(reason)
        registry.register(self)

    def looked_up(self, model: str, match: str) -> None:
        """Count a request that the cache was asked for."""
        self._lookups.labels(model, match).inc()

    def waited(self, model: str) -> None:
        """Count a request that waited for the answer to another one."""
        self._waits.labels(model).inc()

    def kept_out(self, reason: str) -> None:
        """Count a request whose nearest answer was not given."""
        self._kept_out.labels(reason).inc()

    def compared(self, match: str, result: str) -> None:
        """Count a hit that was generated again."""
        self._compared_of[match, result] += 1
        self._compared.labels(match, result).inc()

    def collect(self) -> Iterator[Metric]:
        """Read the cache."""
        state = self._state()
        for name, meaning, value in (
            ("unmask_cache_entries", "Answers that the cache holds.", state.entries),
            ("unmask_cache_bytes", "Bytes that they take, by a rough count.", state.bytes),
            (
                "unmask_cache_embedder_up",
                "0 while the cache's embedder does not answer, and only the very same words are found; else 1.",
                state.is_embedder_up,
            ),
        ):
            yield GaugeMetricFamily(name, meaning, value=value)
        gone = CounterMetricFamily(
            "unmask_cache_gone_total", "Entries that are kept no longer, by why.", labels=("reason",)
        )
        for reason in self._reasons:
            gone.add_metric((reason,), state.gone.get(reason, 0))
        yield gone
        yield CounterMetricFamily(
            "unmask_cache_embedder_failures_total",
            "Times that the embedder of the cache did not answer.",
            value=state.embedder_failures,
        )
        yield self._rates()

    def _rates(self) -> GaugeMetricFamily:
        family = GaugeMetricFamily(
            "unmask_cache_false_hit_ratio",
            "Share of compared hits whose kept answer nobody vouches for, since the start: estimate, and ends of its "
            "95 % Wilson interval.",
            labels=("match", "bound"),
        )
        for match in self._hits:
            counts = {result: count for (found, result), count in self._compared_of.items() if found == match}
            rate = self._rate(counts.get(FALSE, 0), sum(counts.values()))
            for bound, value in zip(BOUNDS, rate, strict=True):
                family.add_metric((match, bound), value)
        return family
