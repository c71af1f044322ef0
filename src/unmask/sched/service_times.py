"""How long requests took once they ran."""

from collections import deque
from math import ceil

KEPT = 128
"""Requests that are looked back on: enough for a 95th percentile, few enough to follow a change of traffic."""


class ServiceTimes:
    """The seconds that the last requests took from their place in the batch to their end."""

    def __init__(self) -> None:
        self._seconds: deque[float] = deque(maxlen=KEPT)
        self.p95: float | None = None

    def add(self, seconds: float) -> None:
        """Take note of a request that completed; ``p95`` is the nearest rank among those kept."""
        self._seconds.append(seconds)
        ranked = sorted(self._seconds)
        self.p95 = ranked[ceil(0.95 * len(ranked)) - 1]
