"""What the engines have to do, asked for when somebody looks."""

from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from typing import TypeVar

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from unmask.load import EngineState, ModelLoad
from unmask.service import QueueLoad
from unmask.work import FORWARD_BOUNDS_S, GROWTH_BOUNDS, GrowthBand, PageAlert

GROWTH_LABELS = ("model", "length")
QUEUE_LABELS = ("model", "service_class", "bucket")
INFINITY = "+Inf"
NONE = "none"
"""Label of requests under no policy, and of those without a bucket."""
Family = TypeVar("Family", GaugeMetricFamily, CounterMetricFamily)
Gauges = tuple[tuple[str, str, Callable[[ModelLoad], float]], ...]

GAUGES: Gauges = (
    (
        "unmask_engine_up",
        "1 while the engine makes progress, 0 once it is stuck or has stopped.",
        lambda load: load.state is EngineState.RUNNING,
    ),
    ("unmask_requests_running", "Generations in the batch.", lambda load: load.running),
    ("unmask_requests_running_limit", "Generations that fit into the batch.", lambda load: load.max_running),
    ("unmask_requests_waiting", "Generations that wait for a place in the batch.", lambda load: load.waiting),
    (
        "unmask_kv_pages_used",
        "KV pages that generations hold; those only the prefix cache keeps are free.",
        lambda load: load.kv_pages_used,
    ),
    ("unmask_kv_pages", "KV pages in all.", lambda load: load.kv_pages),
    ("unmask_kv_page_tokens", "Tokens that a KV page holds.", lambda load: load.page_tokens),
    ("unmask_kv_page_bytes", "Memory that a KV page takes.", lambda load: load.page_bytes),
    ("unmask_kv_usage_ratio", "Share of the KV pages in use, from 0 to 1.", lambda load: load.kv_usage),
    (
        "unmask_kv_alert",
        "Watermark of KV pages in use that was reached and not left again: 1 the high one, 2 the critical one, else 0.",
        lambda load: list(PageAlert).index(load.page_alert),
    ),
)
COUNTERS: Gauges = (
    (
        "unmask_engine_steps_total",
        "Denoise steps the engine took, those of abandoned generations included.",
        lambda load: load.steps,
    ),
    (
        "unmask_kv_alerts_total",
        "How often a watermark of KV pages in use was reached.",
        lambda load: load.page_alerts,
    ),
    ("unmask_engine_ticks_total", "Turns of the engine loop.", lambda load: load.ticks),
    ("unmask_engine_busy_seconds_total", "Time the engine spent in ticks.", lambda load: load.busy_s),
    ("unmask_engine_forwards_total", "Forwards that ended well.", lambda load: load.work.forwards),
    (
        "unmask_engine_rows_total",
        "Rows of these forwards: over forwards, how full batches are.",
        lambda load: load.work.rows,
    ),
    (
        "unmask_engine_tokens_total",
        "Tokens of these rows, of prompts, commits and canvases; what rows are padded with aside.",
        lambda load: load.work.tokens,
    ),
    (
        "unmask_engine_useful_tokens_total",
        (
            "Of these tokens those that completed generations were made of: prompts, commits, and of every step the "
            "positions that became output; counted at a generation's end."
        ),
        lambda load: load.useful_tokens,
    ),
    (
        "unmask_holds_total",
        "How often an idle engine waited for a batch to fill.",
        lambda load: load.holds.count,
    ),
    ("unmask_held_time_seconds_total", "Time of these waits.", lambda load: load.holds.seconds),
    ("unmask_held_joined_total", "Generations that came meanwhile and joined.", lambda load: load.holds.joined),
)
QUEUES: tuple[tuple[str, str, Callable[[QueueLoad], float]], ...] = (
    ("unmask_queue_length", "Generations that wait, by service class and bucket.", lambda queue: queue.waiting),
    (
        "unmask_queue_oldest_time_seconds",
        "How long the generation that has waited longest has been there.",
        lambda queue: queue.oldest_s,
    ),
    (
        "unmask_queue_behind",
        "1 while that is longer than its class's deadline, or than the queue's patience, else 0.",
        lambda queue: queue.is_behind,
    ),
)
QUEUE_COUNTERS: tuple[tuple[str, str, Callable[[QueueLoad], float]], ...] = (
    ("unmask_queue_admitted_total", "Generations that were given a place in a batch.", lambda queue: queue.admitted),
    ("unmask_queue_waited_time_seconds_total", "Time that these waited, all together.", lambda queue: queue.waited_s),
)
GROWTH: tuple[tuple[str, str, Callable[[GrowthBand], float]], ...] = (
    (
        "unmask_kv_growth_generations_total",
        "Completed generations, by how long prompt and output were together: at most so many tokens.",
        lambda band: band.generations,
    ),
    ("unmask_kv_growth_tokens_total", "Tokens whose KV these kept at their end.", lambda band: band.kv_tokens),
    (
        "unmask_kv_growth_pages_total",
        "KV pages that these held, reserved and shared ones included.",
        lambda band: band.pages,
    ),
)
VLLM: tuple[tuple[str, str, Callable[[Iterable[ModelLoad]], float]], ...] = (
    (
        "vllm:num_requests_running",
        "Generations in the batches of all models.",
        lambda loads: sum(load.running for load in loads),
    ),
    (
        "vllm:num_requests_waiting",
        "Generations that wait, over all models.",
        lambda loads: sum(load.waiting for load in loads),
    ),
    (
        "vllm:kv_cache_usage_perc",
        "Share of the KV pages in use, from 0 to 1, of the model that uses most.",
        lambda loads: max((load.kv_usage for load in loads), default=0.0),
    ),
)
"""Names that routers look for. One series each and no label: they read the first series of a name and no other."""


class LoadCollector:
    """Turns the loads of a moment into metrics; registers itself with a registry.

    Args:
        registry: where to.
        read: `Backend.load`, which answers at once.
    """

    def __init__(self, registry: CollectorRegistry, read: Callable[[], tuple[ModelLoad, ...]]) -> None:
        self._read = read
        registry.register(self)

    def collect(self) -> Iterator[Metric]:
        """Yield every metric, all of the same moment."""
        loads = self._read()
        for name, meaning, value in GAUGES:
            gauge = GaugeMetricFamily(name, meaning, labels=("model",))
            for load in loads:
                gauge.add_metric((load.model,), value(load))
            yield gauge
        for name, meaning, value in COUNTERS:
            counter = CounterMetricFamily(name, meaning, labels=("model",))
            for load in loads:
                counter.add_metric((load.model,), value(load))
            yield counter
        yield _forward_times(loads)
        for name, meaning, of_band in GROWTH:
            yield _by_length(CounterMetricFamily(name, meaning, labels=GROWTH_LABELS), loads, of_band)
        for name, meaning, of_queue in QUEUES:
            yield _by_queue(GaugeMetricFamily(name, meaning, labels=QUEUE_LABELS), loads, of_queue)
        for name, meaning, of_queue in QUEUE_COUNTERS:
            yield _by_queue(CounterMetricFamily(name, meaning, labels=QUEUE_LABELS), loads, of_queue)
        for name, meaning, total in VLLM:
            yield GaugeMetricFamily(name, meaning, value=total(loads))


def _forward_times(loads: Iterable[ModelLoad]) -> HistogramMetricFamily:
    family = HistogramMetricFamily("unmask_forward_time_seconds", "Time of a forward.", labels=("model",))
    bounds = (*(str(bound) for bound in FORWARD_BOUNDS_S), INFINITY)
    for load in loads:
        counts = accumulate(load.work.times)
        family.add_metric((load.model,), list(zip(bounds, counts, strict=True)), load.work.seconds)
    return family


def _by_length(
    family: CounterMetricFamily, loads: Iterable[ModelLoad], value: Callable[[GrowthBand], float]
) -> CounterMetricFamily:
    """Add a series for every band of lengths; each counts its own, and not those of shorter ones as well."""
    bounds = (*map(str, GROWTH_BOUNDS), INFINITY)
    for load in loads:
        for bound, band in zip(bounds, load.growth, strict=True):
            family.add_metric((load.model, bound), value(band))
    return family


def _by_queue(family: Family, loads: Iterable[ModelLoad], value: Callable[[QueueLoad], float]) -> Family:
    """Add a series for every queue; classes are those of approved policies, so no caller can add any."""
    for load in loads:
        for queue in load.queues:
            labels = (load.model, queue.service_class or NONE, queue.bucket or NONE)
            family.add_metric(labels, value(queue))
    return family
