"""Several service classes or one policy: whether the traffic's needs are really split."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from unmask.stats import Interval, IntervalResult, NotEnoughData, difference_interval
from unmask.tune.shown import interval_json, interval_text
from unmask.tune.traffic import Served

MIN_REQUESTS = 100
"""Requests of a class below which nothing is said of it."""
SMALL_EFFECT = 0.2
"""Standard deviations below which a difference is of no account (Cohen, 1988)."""


class Split(StrEnum):
    """What the traffic says of service classes."""

    CLASSES = "classes"
    ONE_POLICY = "one policy"
    NOT_ENOUGH_DATA = "not enough data"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """How far a class lies from all others in one need, in standard deviations within task types."""

    service_class: str
    need: str
    requests: int
    difference: IntervalResult


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassAdvice:
    """Whether classes are borne out: one contrast surely beyond a small effect, or all of them surely within it."""

    split: Split
    reason: str
    contrasts: tuple[Contrast, ...]


def advise_classes(traffic: Sequence[Served], seed: int) -> ClassAdvice:
    """Compare what classes need, task type by task type: that one asks harder task types calls for no class.

    Difficulty, seconds and (where callers gave one) deadline are compared, each class against all others. Intervals
    are widened for the number of contrasts (Bonferroni), so that many classes do not make a split by chance.
    """
    counts = Counter(request.service_class for request in traffic)
    if len(counts) < 2:
        return _unsure(
            f"the records hold {len(counts)} service class{'' if len(counts) == 1 else 'es'}, two are needed"
        )
    small = [f"{name} {count}" for name, count in sorted(counts.items()) if count < MIN_REQUESTS]
    if small:
        return _unsure(f"at least {MIN_REQUESTS} requests a class are needed, got {', '.join(small)}")
    needs = {
        "difficulty": [request.difficulty for request in traffic],
        "seconds": [request.seconds for request in traffic],
    }
    deadlines = [request.deadline_s for request in traffic]
    if all(deadline is not None for deadline in deadlines):
        needs["deadline"] = [deadline for deadline in deadlines if deadline is not None]
    names = [request.service_class for request in traffic]
    tasks = [request.task for request in traffic]
    confidence = 1 - 0.05 / (len(counts) * len(needs))
    contrasts = tuple(
        _contrast(name, need, _within(values, tasks), np.array([other == name for other in names]), seed, confidence)
        for need, values in needs.items()
        for name in sorted(counts)
    )
    return _judged(contrasts)


def _judged(contrasts: tuple[Contrast, ...]) -> ClassAdvice:
    known = [(entry, entry.difference) for entry in contrasts if isinstance(entry.difference, Interval)]
    apart = [entry for entry, found in known if found.low > SMALL_EFFECT or found.high < -SMALL_EFFECT]
    if apart:
        said = ", ".join(f"{entry.service_class} in {entry.need}" for entry in apart)
        return ClassAdvice(split=Split.CLASSES, reason=f"needs differ: {said}", contrasts=contrasts)
    if len(known) == len(contrasts) and all(
        abs(end) <= SMALL_EFFECT for _, found in known for end in (found.low, found.high)
    ):
        reason = f"no need differs by {SMALL_EFFECT:g} standard deviations"
        return ClassAdvice(split=Split.ONE_POLICY, reason=reason, contrasts=contrasts)
    return ClassAdvice(
        split=Split.NOT_ENOUGH_DATA, reason="some differences may be of account or not", contrasts=contrasts
    )


def _unsure(reason: str) -> ClassAdvice:
    return ClassAdvice(split=Split.NOT_ENOUGH_DATA, reason=reason, contrasts=())


def _within(values: Sequence[float], tasks: Sequence[str]) -> NDArray[np.float64]:
    """Return values less their task type's mean, over the standard deviation that is left."""
    data, kinds = np.array(values, dtype=np.float64), np.array(tasks)
    for kind in np.unique(kinds):
        data[kinds == kind] -= data[kinds == kind].mean()
    deviation = float(data.std())
    return np.asarray(data / deviation if deviation > 0 else data, dtype=np.float64)


def _contrast(
    name: str, need: str, values: NDArray[np.float64], inside: NDArray[np.bool_], seed: int, confidence: float
) -> Contrast:
    difference = difference_interval(values[inside], values[~inside], seed, confidence=confidence)
    if not values.any():
        difference = NotEnoughData(n=len(values), reason="all requests of a task type are alike")
    return Contrast(service_class=name, need=need, requests=int(inside.sum()), difference=difference)


def class_table(advice: ClassAdvice) -> Table:
    """Return a line a class and need, and the verdict as its title."""
    table = Table(title=f"service classes: {advice.split}: {advice.reason}")
    for heading in ("class", "need", "requests", "difference in standard deviations"):
        table.add_column(heading)
    for entry in advice.contrasts:
        table.add_row(entry.service_class, entry.need, str(entry.requests), interval_text(entry.difference))
    return table


def class_json(advice: ClassAdvice) -> dict[str, object]:
    """Return advice on classes as JSON."""
    return {
        "split": advice.split,
        "reason": advice.reason,
        "contrasts": [
            {
                "class": entry.service_class,
                "need": entry.need,
                "requests": entry.requests,
                "difference": interval_json(entry.difference),
            }
            for entry in advice.contrasts
        ],
    }
