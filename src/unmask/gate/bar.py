"""Which marks are passes and which are failures, one answer at a time.

A row of a gate decides on means over many answers. A person who reads one answer, and a rate of how often a judge is
right, need a yes or a no of that answer.
"""

from collections.abc import Mapping
from types import MappingProxyType

from unmask.gate.score import Metric

BARS: Mapping[Metric, float] = MappingProxyType(
    {metric: 1.0 for metric in Metric if metric not in {Metric.HALLUCINATION, Metric.SECONDS}}
    | {Metric.HALLUCINATION: 0.0, Metric.PERSONA: 0.75, Metric.NATURALNESS: 0.75}
)
"""The least value that is a pass, of ``hallucination`` the largest; 0.75 is four of five points."""
REVIEWED = tuple(BARS)
"""Metrics that a person may judge: all but ``seconds``, which a clock measured."""


def passes(metric: Metric, value: float) -> bool:
    """Tell whether a value of a metric is a pass; ``KeyError`` for ``seconds``."""
    bar = BARS[metric]
    return value <= bar if metric is Metric.HALLUCINATION else value >= bar


def best(metric: Metric) -> float:
    """Return the value of a faultless answer."""
    return 0.0 if metric is Metric.HALLUCINATION else 1.0


def worst(metric: Metric) -> float:
    """Return the value of an answer with nothing right."""
    return 1.0 - best(metric)
