"""How many engines there should be."""

from dataclasses import dataclass
from math import ceil

from unmask.load import ModelLoad

CALM_S = 60.0
"""Seconds for which fewer engines have to be enough before one is let go: starting one takes longer than keeping it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleTerms:
    """Between how many engines, and for which time until their work is done.

    Attributes:
        drain_s: seconds that the work of an engine may be expected to take.
    """

    least: int
    most: int
    drain_s: float


class Scaler:
    """Follows predicted drain times: up at once, down by one when fewer would have been enough for a while."""

    def __init__(self, terms: ScaleTerms) -> None:
        self._terms = terms
        self._calm_since: float | None = None

    def wanted(self, now: float, count: int, loads: tuple[tuple[ModelLoad, ...], ...]) -> int:
        """Return how many engines there should be.

        Args:
            now: monotonic seconds.
            count: of engines there are, those that start included.
            loads: of those that have started; work is taken to spread evenly over the others once they are there.
        """
        terms = self._terms
        work_s = sum(drain_time(each) for each in loads)
        needed = min(max(ceil(work_s / terms.drain_s), terms.least), terms.most)
        if needed >= count:
            self._calm_since = None
            return needed
        if self._calm_since is None:
            self._calm_since = now
        if now - self._calm_since < CALM_S:
            return count
        self._calm_since = now
        return count - 1


def drain_time(loads: tuple[ModelLoad, ...]) -> float:
    """Return seconds until an engine's work is done; models and classes share it, so their times overlap."""
    return max((work.drain_s for load in loads for work in load.works), default=0.0)
