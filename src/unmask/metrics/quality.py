"""What load leaves of requests, by service class, asked for when somebody looks."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

LABELS = ("model", "service_class")
NONE = "none"
"""Label of requests under no policy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassQuality:
    """The quality level of a class of a model's requests.

    Attributes:
        level: its number; 0 leaves requests as they are.
        lowest: the class's floor.
        pressure: seconds of work over seconds that it may wait, at the last look that told.
        falls: steps down since the start.
        rises: steps up.
        requests: how many were given each level.
        is_blind: whether the last look told nothing of the load.
    """

    model: str
    service_class: str
    level: int
    lowest: int
    pressure: float
    falls: int
    rises: int
    requests: tuple[int, ...]
    is_blind: bool


class QualityCollector(Collector):
    """Writes the levels as of the moment it is asked.

    Args:
        registry: where it registers.
        read: looks at the load and returns every class that has had a request.
    """

    def __init__(self, registry: CollectorRegistry, read: Callable[[], Iterable[ClassQuality]]) -> None:
        self._read = read
        registry.register(self)

    def collect(self) -> Iterator[Metric]:
        """Yield every metric, all of the same moment."""
        found = [((one.model, one.service_class or NONE), one) for one in self._read()]
        for name, meaning, value in GAUGES:
            gauge = GaugeMetricFamily(name, meaning, labels=LABELS)
            for labels, one in found:
                gauge.add_metric(labels, value(one))
            yield gauge
        changes = CounterMetricFamily(
            "unmask_quality_changes_total", "Steps between quality levels.", labels=(*LABELS, "direction")
        )
        requests = CounterMetricFamily(
            "unmask_quality_requests_total",
            "Generations by the quality level they were given.",
            labels=(*LABELS, "level"),
        )
        for labels, one in found:
            changes.add_metric((*labels, "down"), one.falls)
            changes.add_metric((*labels, "up"), one.rises)
            for level, count in enumerate(one.requests):
                requests.add_metric((*labels, str(level)), count)
        yield changes
        yield requests


GAUGES: tuple[tuple[str, str, Callable[[ClassQuality], float]], ...] = (
    (
        "unmask_quality_level",
        "What load leaves of requests that arrive now: all with 0, the less the higher.",
        lambda one: one.level,
    ),
    ("unmask_quality_floor", "The highest number that the level may have.", lambda one: one.lowest),
    (
        "unmask_quality_pressure_ratio",
        "Predicted time for all of the class's work over the time that its requests may wait.",
        lambda one: one.pressure,
    ),
    (
        "unmask_quality_blind",
        "1 while the load is not known, so that the level is a guess, else 0.",
        lambda one: one.is_blind,
    ),
)
