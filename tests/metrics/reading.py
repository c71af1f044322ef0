"""Reads what was written, as Prometheus does."""

from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families

from unmask.metrics.exposition import expose

Series = dict[str, float]


def parse(text: str) -> Series:
    """Return the value of every series by its name and sorted labels, such as ``name{a=1,b=2}``."""
    return {
        _key(sample.name, sample.labels): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def read(registry: CollectorRegistry) -> Series:
    """Return every series of a registry, by way of its text."""
    return parse(expose(registry, None).body.decode())


def moved(before: Series, after: Series) -> Series:
    """Return by how much each series has moved, those that have not left out; sums of seconds are left out too."""
    return {
        key: value - before.get(key, 0)
        for key, value in after.items()
        if value != before.get(key, 0) and "_bucket" not in key and not key.partition("{")[0].endswith("seconds_sum")
    }


def _key(name: str, labels: dict[str, str]) -> str:
    inside = ",".join(f"{label}={value}" for label, value in sorted(labels.items()))
    return f"{name}{{{inside}}}" if inside else name
