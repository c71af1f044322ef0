"""From answers that were checked to the threshold from which answers are accepted."""

from collections.abc import Sequence
from dataclasses import dataclass

from unmask.stats import Interval, clopper_pearson

FEWEST = 30
"""Answers above a threshold without which nothing is said of it."""
LOOKS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """An answer's mean log-probability a token, in nats, and whether a checker that knows the truth passed it."""

    confidence: float
    right: bool


def calibrated(marks: Sequence[Mark], *, share: float = 0.9) -> float | None:
    """Return the lowest threshold above which answers are right often enough; nothing where there is none.

    Thresholds are tried from the surest down, each with a twentieth of the answers more, until the lower end of the
    Clopper-Pearson interval of the share that is right falls below ``share``. As the order is fixed and the first miss
    ends it, the chance of a threshold that is too low stays that of a single interval, 2.5 %.

    Args:
        marks: of answers that nothing else was tuned on.
        share: how many of those that are accepted are to be right.
    """
    ranked = sorted(marks, key=lambda mark: mark.confidence, reverse=True)
    found: float | None = None
    for look in range(1, LOOKS + 1):
        count = -(-len(ranked) * look // LOOKS)
        if count < FEWEST:
            continue
        threshold = ranked[count - 1].confidence
        # All that are as sure as the last are above it, too.
        above = [mark.right for mark in ranked if mark.confidence >= threshold]
        interval = clopper_pearson(sum(above), len(above))
        if not isinstance(interval, Interval) or interval.low < share:
            break
        found = threshold
    return found
