"""Instruments of requests that are turned away."""

from enum import StrEnum

from prometheus_client import CollectorRegistry, Counter


class RefusalEnd(StrEnum):
    """What became of a refusal: its row is in the ledger, it is one too many of a flood, or it could not be booked."""

    BOOKED = "booked"
    FLOOD = "flood"
    FAILED = "failed"


class RefusalInstruments:
    """Counts what a ledger was told of requests that were turned away; without a ledger nothing is counted."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._refusals = Counter(
            "unmask_refusals_total",
            "Requests turned away before anything was reserved for them, by what became of their row in the ledger.",
            ("booking",),
            registry=registry,
        )
        for end in RefusalEnd:
            self._refusals.labels(end)

    def ended(self, end: RefusalEnd) -> None:
        """Count a refusal."""
        self._refusals.labels(end).inc()
