"""The old policy against the new: cost, quality, latency and misjudgement, each with its interval."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from unmask.stats import (
    Interval,
    IntervalResult,
    bootstrap_mean,
    paired_difference,
    percentile_interval,
    wilson,
)
from unmask.tune.paired_run import Arm, PairedRecord
from unmask.tune.shown import interval_json, interval_text

ALL = "all"
"""All task types together, each with the same number of items."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SideFigures:
    """What one policy gives, each with its 95 % interval.

    Attributes:
        steps: mean denoise steps a request: its cost.
        quality: share of right answers.
        p50: seconds of half of the requests; ``p95`` of nineteen in twenty.
        exits: requests whose exit rule was met.
        misjudgement: share of them that are wrong there and right in their full run.
    """

    steps: IntervalResult
    quality: IntervalResult
    p50: IntervalResult
    p95: IntervalResult
    exits: int
    misjudgement: IntervalResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A task type, or all of them, under both policies; differences are of the same items, new minus old."""

    task: str
    items: int
    before: SideFigures
    after: SideFigures
    steps: IntervalResult
    quality: IntervalResult
    seconds: IntervalResult


def compare(records: Iterable[PairedRecord], tasks: Sequence[str], seed: int) -> tuple[Comparison, ...]:
    """Compare task by task, and all together; an item without both policies is a ``ValueError``."""
    cells: dict[tuple[str, str], dict[Arm, PairedRecord]] = {}
    # Resampling goes by order, and a run that went on ends in another one.
    for record in sorted(records, key=lambda record: (record.task, record.item)):
        cells.setdefault((record.task, record.item), {})[record.arm] = record
    pairs = {task: [both for (found, _), both in cells.items() if found == task] for task in tasks}
    if any(len(both) != len(Arm) for both in cells.values()):
        message = "some items were measured under one policy only"
        raise ValueError(message)
    whole = [both for task in tasks for both in pairs[task]]
    return tuple(_compare(name, found, seed) for name, found in (*pairs.items(), (ALL, whole)))


def _compare(task: str, pairs: Sequence[Mapping[Arm, PairedRecord]], seed: int) -> Comparison:
    before, after = ([both[arm] for both in pairs] for arm in (Arm.BEFORE, Arm.AFTER))
    most = float(max((record.steps for record in (*before, *after)), default=0))
    return Comparison(
        task=task,
        items=len(pairs),
        before=_figures(before, seed, most),
        after=_figures(after, seed, most),
        steps=_difference([r.steps for r in after], [r.steps for r in before], seed, most),
        quality=_difference([r.correct for r in after], [r.correct for r in before], seed, 1.0),
        seconds=paired_difference([r.seconds for r in after], [r.seconds for r in before], seed),
    )


def _difference(after: Sequence[float], before: Sequence[float], seed: int, most: float) -> IntervalResult:
    return paired_difference([float(v) for v in after], [float(v) for v in before], seed, bounds=(-most, most))


def _figures(records: Sequence[PairedRecord], seed: int, most: float) -> SideFigures:
    seconds = [record.seconds for record in records]
    exits = [record.misjudged for record in records if record.misjudged is not None]
    return SideFigures(
        steps=bootstrap_mean([float(record.steps) for record in records], seed, bounds=(0.0, most)),
        quality=wilson(sum(record.correct for record in records), len(records)),
        p50=percentile_interval(seconds, 0.5),
        p95=percentile_interval(seconds, 0.95),
        exits=len(exits),
        misjudgement=wilson(sum(exits), len(exits)),
    )


def comparison_json(found: Comparison) -> dict[str, object]:
    """Return a comparison as JSON."""
    return {
        "task": found.task,
        "items": found.items,
        "before": _side_json(found.before),
        "after": _side_json(found.after),
        "steps_difference": interval_json(found.steps),
        "quality_difference": interval_json(found.quality),
        "seconds_difference": interval_json(found.seconds),
    }


def _side_json(side: SideFigures) -> dict[str, object]:
    return {
        "steps": interval_json(side.steps),
        "quality": interval_json(side.quality),
        "p50_s": interval_json(side.p50),
        "p95_s": interval_json(side.p95),
        "exits": side.exits,
        "misjudgement": interval_json(side.misjudgement),
    }


def comparison_rows(found: Comparison) -> tuple[tuple[str, str, str, str], ...]:
    """Return rows for people: what, before, after, and the paired difference."""
    before, after = found.before, found.after
    return (
        ("steps a request", interval_text(before.steps), interval_text(after.steps), interval_text(found.steps)),
        (
            "right",
            interval_text(before.quality, percent=True),
            interval_text(after.quality, percent=True),
            _points(found.quality),
        ),
        ("p50 s", interval_text(before.p50), interval_text(after.p50), ""),
        ("p95 s", interval_text(before.p95), interval_text(after.p95), ""),
        ("mean s", "", "", interval_text(found.seconds)),
        ("misjudgement", _exits(before), _exits(after), ""),
    )


def _points(result: IntervalResult) -> str:
    if not isinstance(result, Interval):
        return interval_text(result)
    value, low, high = (f"{100 * part:+.1f}" for part in (result.estimate, result.low, result.high))
    return f"{value} points ({low} to {high})"


def _exits(side: SideFigures) -> str:
    return f"{interval_text(side.misjudgement, percent=True)} of {side.exits} exits" if side.exits else "no exits"
