"""What savings save and what that does to quality, read when somebody looks."""

from collections.abc import Callable, Iterable, Iterator

from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from unmask.savings.figure import Estimated
from unmask.savings.standing import Standing

ENDS = ("value", "low", "high")


class SavingsCollector(Collector):
    """Writes every saving that was measured, always with its quality.

    Args:
        registry: where it registers.
        standings: returns what is known of savings.
    """

    def __init__(self, registry: CollectorRegistry, standings: Callable[[], Iterable[Standing]]) -> None:
        self._standings = standings
        registry.register(self)

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Read the figures."""
        enabled = GaugeMetricFamily(
            "unmask_saving_enabled", "1 while a setting or a policy enables the saving.", labels=("saving",)
        )
        saved = GaugeMetricFamily(
            "unmask_saving_ratio",
            "Share that the saving was measured to save, and the ends of its 95 % interval.",
            labels=("saving", "end"),
        )
        quality = GaugeMetricFamily(
            "unmask_saving_quality_difference",
            "Quality with the saving minus quality without it, and the ends of its 95 % interval.",
            labels=("saving", "end"),
        )
        for standing in self._standings():
            name, figure = standing.saving.name, standing.figure
            enabled.add_metric((name,), float(bool(standing.enabled_by)))
            if figure is not None:
                _add(saved, name, figure.saved)
                _add(quality, name, figure.quality)
        yield from (enabled, saved, quality)


def _add(family: GaugeMetricFamily, name: str, found: Estimated) -> None:
    for end, value in zip(ENDS, (found.value, found.low, found.high), strict=True):
        family.add_metric((name, end), value)
