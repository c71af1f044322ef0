"""Figures of the gate bench: each stage and mode, and what tells them apart.

A cluster is one value: the mean over its scenarios and seeds. Shares have betting intervals, as the gate's rows have;
of what is counted over prompts clusters are resampled.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np

from unmask.bench.gate_journal import Arm
from unmask.bench.gate_marks import QUALITIES, TRAP_ACCEPTED, ArmMarks, Means, Prompts
from unmask.bench.gate_stages import Stage
from unmask.bench.modes import BOTH_MODES
from unmask.bench.report import Figure, measured
from unmask.gate.score import Metric
from unmask.stats import (
    Interval,
    IntervalResult,
    NotEnoughData,
    betting_mean,
    bootstrap_mean,
    paired_difference,
    percentile_interval,
    ratio_interval,
)
from unmask.types import Mode

BOTH = 0.975
"""Confidence of each of two intervals that are to hold together 95 times in 100."""
PERCENTILES = (("p50", 0.5), ("p95", 0.95))
PRECISION, HALLUCINATION = Metric.FACTUAL_PRECISION.value, Metric.HALLUCINATION.value
COMPARED = (PRECISION, HALLUCINATION, TRAP_ACCEPTED)

ByCluster = Mapping[str, Prompts]
Marked = Mapping[Arm, ArmMarks]


def stage_figures(stage: Stage, prompts: ByCluster, seed: int) -> list[Figure]:
    """Return what a stage injects: facts a question, signal density, recall and entities of what is needed."""
    found = list(prompts.values())
    injected = [one.counts.injected for one in found]
    questions = [one.questions for one in found]
    return [
        measured(
            f"{stage}.injected_facts",
            ratio_interval(injected, questions, seed, paired=True),
            fallback=sum(injected) / sum(questions),
            n=len(found),
            note="a question",
        ),
        measured(
            f"{stage}.signal_density",
            density(prompts, seed),
            fallback=pooled_density(prompts),
            n=len(found),
            note="pooled: needed facts of all injected",
        ),
        _share(f"{stage}.needed_fact_recall", [one.counts.recall for one in found]),
        _share(f"{stage}.entities_covered", [one.counts.entity_coverage for one in found]),
    ]


def arm_figures(marks: ArmMarks, seed: int) -> list[Figure]:
    """Return an arm's qualities, steps, and seconds an answer in batches of 16."""
    name = marks.arm.name
    figures = [_share(f"{name}.{quality}", list(marks.means[quality].values())) for quality in QUALITIES]
    figures.append(
        measured(
            f"{name}.steps",
            bootstrap_mean(marks.steps, seed),
            fallback=_mean(marks.steps),
            n=len(marks.steps),
            note="an answer",
        )
    )
    return figures + latency_figures(name, marks.seconds)


def latency_figures(name: str, seconds: Sequence[float] | np.ndarray) -> list[Figure]:
    """Return p50 and p95 of seconds."""
    return [
        measured(
            f"{name}.latency_{label}",
            percentile_interval(seconds, quantile),
            fallback=float(np.quantile(seconds, quantile)) if len(seconds) else 0.0,
            unit="s",
            n=len(seconds),
        )
        for label, quantile in PERCENTILES
    ]


def mode_differences(marked: Marked, seed: int) -> list[Figure]:
    """Return diffusion less autoregressive of each stage."""
    return [
        difference(
            f"{stage}.diffusion_vs_autoregressive.{quality}",
            marked[Arm(stage=stage, mode=Mode.DIFFUSION)].means[quality],
            marked[Arm(stage=stage, mode=Mode.AUTOREGRESSIVE)].means[quality],
            seed,
        )
        for stage in Stage
        for quality in COMPARED
    ]


def stage_differences(marked: Marked, seed: int) -> list[Figure]:
    """Return each stage less the one before it, in both modes."""
    return [
        difference(
            f"{later}_vs_{earlier}.{mode}.{quality}",
            marked[Arm(stage=later, mode=mode)].means[quality],
            marked[Arm(stage=earlier, mode=mode)].means[quality],
            seed,
        )
        for earlier, later in pairwise(Stage)
        for mode in BOTH_MODES
        for quality in COMPARED
    ]


def difference(name: str, left: Means, right: Means, seed: int) -> Figure:
    """Return the mean of what left has more than right, cluster by cluster."""
    clusters = sorted(left.keys() & right.keys())
    ours, theirs = ([means[cluster] for cluster in clusters] for means in (left, right))
    return measured(
        name,
        paired_difference(ours, theirs, seed, bounds=(-1.0, 1.0)),
        fallback=_mean(ours) - _mean(theirs),
        n=len(clusters),
    )


def density(prompts: ByCluster, seed: int, confidence: float = 0.95) -> IntervalResult:
    """Return the signal density of all prompts together, clusters resampled."""
    counts = [one.counts for one in prompts.values()]
    return ratio_interval(
        [one.signal for one in counts], [one.injected for one in counts], seed, paired=True, confidence=confidence
    )


def pooled_density(prompts: ByCluster) -> float:
    """Return the bare signal density of all prompts together."""
    return sum(one.counts.signal for one in prompts.values()) / max(
        sum(one.counts.injected for one in prompts.values()), 1
    )


def quotient(top: IntervalResult, bottom: IntervalResult) -> IntervalResult:
    """Return how many times as much; ends are those of the worst cases, so confidences of 97.5 % give one of 95 %."""
    for one in (top, bottom):
        if isinstance(one, NotEnoughData):
            return one
    assert isinstance(top, Interval)
    assert isinstance(bottom, Interval)
    if bottom.low <= 0:
        return NotEnoughData(n=0, reason="what is divided by may be zero")
    return Interval(estimate=top.estimate / bottom.estimate, low=top.low / bottom.high, high=top.high / bottom.low)


def _share(name: str, values: Iterable[float | None]) -> Figure:
    found = [value for value in values if value is not None]
    return measured(name, betting_mean(found), fallback=_mean(found), n=len(found))


def _mean(values: Sequence[float] | np.ndarray) -> float:
    return float(np.mean(values)) if len(values) else 0.0
