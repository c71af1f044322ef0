"""What is told of the replicas of a model, asked for when somebody looks."""

from collections.abc import Callable, Iterable, Iterator

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from unmask.load import ModelLoad
from unmask.routing import PrefillEnd, ReplicaLoad

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
        loads = self._read()
        told = [(load.model, one) for load in loads for one in load.replicas]
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
        yield from _prefills(loads)


def _decisions(told: list[tuple[str, ReplicaLoad]]) -> CounterMetricFamily:
    family = CounterMetricFamily(
        "unmask_replica_decisions_total", "Generations sent there, by why.", labels=(*LABELS, "reason")
    )
    for model, one in told:
        for reason, count in one.decisions:
            family.add_metric((model, one.name, reason), count)
    return family


def _prefills(loads: Iterable[ModelLoad]) -> Iterator[CounterMetricFamily]:
    """Yield what became of prompts that were to be prefilled on other replicas; no series before there was one."""
    prompts = CounterMetricFamily(
        "unmask_prefill_prompts_total",
        "Prompts that were to be run on a prefill replica, by what became of them.",
        labels=("model", "result"),
    )
    tokens = CounterMetricFamily(
        "unmask_prefill_tokens_total", "Prompt tokens whose keys and values came from there.", labels=("model",)
    )
    size = CounterMetricFamily("unmask_prefill_bytes_total", "Bytes of these keys and values.", labels=("model",))
    for load in loads:
        if not any(load.prefills.ends):
            continue
        for end, count in zip(PrefillEnd, load.prefills.ends, strict=True):
            prompts.add_metric((load.model, end), count)
        tokens.add_metric((load.model,), load.prefills.tokens)
        size.add_metric((load.model,), load.prefills.size)
    yield from (prompts, tokens, size)
