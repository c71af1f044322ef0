"""Writes a registry as text, in the format that the reader asks for."""

from collections.abc import Iterator
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, exposition
from prometheus_client.core import Metric
from prometheus_client.openmetrics import exposition as openmetrics
from prometheus_client.registry import Collector

TEXT = exposition.CONTENT_TYPE_PLAIN_0_0_4
OPENMETRICS = openmetrics.CONTENT_TYPE_LATEST
_OPENMETRICS_NAME = "application/openmetrics-text"
_OPENMETRICS_VERSIONS = frozenset({"", "1.0.0"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposition:
    """A registry's text and the content type that says how to read it."""

    body: bytes
    content_type: str


def expose(registry: CollectorRegistry, accept: str | None) -> Exposition:
    """Write all metrics: in OpenMetrics 1.0 where the ``accept`` header names it, else in Prometheus text 0.0.4."""
    if accept is not None and any(map(_is_openmetrics, accept.split(","))):
        # The library leaves this one function without types.
        body: bytes = openmetrics.generate_latest(registry)  # type: ignore[no-untyped-call]
        return Exposition(body=body, content_type=OPENMETRICS)
    return Exposition(body=exposition.generate_latest(_WithoutCreated(registry)), content_type=TEXT)


def _is_openmetrics(accepted: str) -> bool:
    """Tell whether an entry of the header asks for a version that is written here.

    The client library's own reading of the header fails on a version that is no number.
    """
    name, *parameters = (part.strip().lower() for part in accepted.split(";"))
    values = dict(parameter.partition("=")[::2] for parameter in parameters)
    return name == _OPENMETRICS_NAME and values.get("version", "") in _OPENMETRICS_VERSIONS and values.get("q") != "0"


class _WithoutCreated:
    """A registry without the times at which series began: text 0.0.4 would make a metric of each."""

    def __init__(self, registry: Collector) -> None:
        self._registry = registry

    def collect(self) -> Iterator[Metric]:
        for metric in self._registry.collect():
            metric.samples = [sample for sample in metric.samples if not sample.name.endswith("_created")]
            yield metric
