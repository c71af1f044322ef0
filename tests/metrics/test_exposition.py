"""Behaviour of `unmask.metrics.exposition` and `unmask.metrics.identity`."""

import pytest
from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

from tests.metrics.reading import read
from unmask.metrics.exposition import OPENMETRICS, TEXT, expose
from unmask.metrics.identity import installed_version, register_identity
from unmask.testing.builders import make_model

PROMETHEUS = (
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,"
    "application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.2,*/*;q=0.1"
)


def small_registry() -> CollectorRegistry:
    """Return a registry with one metric of each kind that has a time of creation."""
    registry = CollectorRegistry()
    Counter("a_total", "A.", ("label",), registry=registry).labels('odd "\n\\ label').inc()
    Histogram("b_seconds", "B.", buckets=(1.0,), registry=registry).observe(0.5)
    return registry


@pytest.mark.parametrize(
    "accept",
    [PROMETHEUS, "application/openmetrics-text", "text/html, Application/OpenMetrics-Text; version=1.0.0; q=0.7"],
)
def test_openmetrics_where_it_is_asked_for(accept: str) -> None:
    """The text is OpenMetrics to its last line, and the content type says so."""
    found = expose(small_registry(), accept)
    families = parse_openmetrics(found.body.decode())  # type: ignore[no-untyped-call] # the library has no types for it

    assert found.content_type == OPENMETRICS
    assert {family.name for family in families} == {"a", "b_seconds"}
    assert found.body.endswith(b"# EOF\n")


@pytest.mark.parametrize(
    "accept",
    [
        None,
        "",
        "*/*",
        "text/plain",
        "text/plain; version=x",
        "application/openmetrics-text; version=abc",
        "application/openmetrics-text; version=2.0.0",
        "application/openmetrics-text; q=0",
        ";;,=,;=;version",
        "é" * 5000,
    ],
)
def test_text_where_it_is_not(accept: str | None) -> None:
    """Whatever else a header says, however broken, the answer is the text that every reader knows."""
    found = expose(small_registry(), accept)

    assert found.content_type == TEXT
    assert {family.name for family in parse_text(found.body.decode())} == {"a", "b_seconds"}


def test_creation_times_are_no_metrics() -> None:
    """They would double the text, and be taken for gauges."""
    assert b"_created" not in expose(small_registry(), None).body


def test_version_and_digests_are_told() -> None:
    """Which program runs and which weights it serves."""
    registry = CollectorRegistry()
    register_identity(registry, (make_model("tiny", digest="abc"), make_model("nano", digest="def")))

    assert read(registry) == {
        f"unmask_build_info{{version={installed_version()}}}": 1,
        "unmask_model_info{digest=abc,model=tiny}": 1,
        "unmask_model_info{digest=def,model=nano}": 1,
    }
    assert installed_version()
