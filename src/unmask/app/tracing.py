"""Builds what sends traces."""

from collections.abc import Iterator
from contextlib import contextmanager

from unmask.config import Settings
from unmask.errors import ConfigError
from unmask.metrics.tracing import Tracing

EXTRA = "opentelemetry"


@contextmanager
def opened_tracing(settings: Settings) -> Iterator[Tracing | None]:
    """Open what sends traces, for as long as the block runs; nothing where no address is named.

    Raises:
        ConfigError: what sends them is not installed.
    """
    if settings.otlp_endpoint is None:
        yield None
        return
    try:
        from unmask.metrics.otel import open_otel_tracing
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != EXTRA:
            raise
        raise ConfigError(
            f"otlp_endpoint is {settings.otlp_endpoint}, and {error.name} is not installed. Install the extra: "
            "pip install '.[otel]' in a checkout; or leave it out.",
            param="otlp_endpoint",
        ) from error
    tracing = open_otel_tracing(settings.otlp_endpoint, settings.trace_share)
    try:
        yield tracing
    finally:
        tracing.close()
