"""What is told of the replicas of a model, asked for when somebody looks."""

from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from unmask.load import ModelLoad
from unmask.routing import ReplicaLoad

LABELS = ("model", "replica")
Told = tuple[tuple[str, str, Callable[[ReplicaLoad], float]], ...]

GAUGES: Told = (
    ("unmask_replica_up", "1 while requests may go to it, else 0.", lambda one: one.problem is None),
    ("unmask_replica_requests", "Generations that run or wait there.", lambda one: one.running + one.waiting),
)
COUNTERS: Told = (
    (
        "unmask_replica_prompt_tokens_total",
        "Prompt tokens of generations that it ended.",
        lambda one: one.prompt_tokens,
    ),
    (
        "unmask_replica_cached_tokens_total",
        "Of these, those that its prefix cache had, so that they were not run: over them, its hit rate.",
        lambda one: one.cached_tokens,
    ),
    (
        "unmask_replica_expected_tokens_total",
        "Of these, those that were believed to be in its cache when the generation was sent there.",
        lambda one: one.expected_tokens,
    ),
)


class ReplicaCollector:
    """Turns what is told of replicas into metrics; registers itself with a registry.

    Args:
        registry: where to.
        read: `Backend.load`, which answers at once.
    """

    def __init__(self, registry: CollectorRegistry, read: Callable[[], tuple[ModelLoad, ...]]) -> None:
        self._read = read
        registry.register(self)

    def collect(self) -> Iterator[Metric]:
        """Yield every metric, all of the same moment; names of replicas are the operator's own."""
        told = [(load.model, one) for load in self._read() for one in load.replicas]
        for name, meaning, value in GAUGES:
            gauge = GaugeMetricFamily(name, meaning, labels=LABELS)
            for model, one in told:
                gauge.add_metric((model, one.name), value(one))
            yield gauge
        for name, meaning, value in COUNTERS:
            counter = CounterMetricFamily(name, meaning, labels=LABELS)
            for model, one in told:
                counter.add_metric((model, one.name), value(one))
            yield counter
        yield _decisions(told)


def _decisions(told: list[tuple[str, ReplicaLoad]]) -> CounterMetricFamily:
    family = CounterMetricFamily(
        "unmask_replica_decisions_total", "Generations sent there, by why.", labels=(*LABELS, "reason")
    )
    for model, one in told:
        for reason, count in one.decisions:
            family.add_metric((model, one.name, reason), count)
    return family
