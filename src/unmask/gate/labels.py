"""What people said of answers that chance picked, beside what these were marked."""

from dataclasses import dataclass

from unmask.gate.bar import passes
from unmask.gate.response import ResponseKey
from unmask.gate.review_queue import ReviewItem, ReviewQueue
from unmask.gate.score import Metric
from unmask.gate.standing import Standing


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """One mark of the random stratum that a person judged.

    Attributes:
        probability: with which its answer was drawn.
        passed: whether the person lets the answer pass.
        mark_passed: whether its mark does.
    """

    key: ResponseKey
    cluster: str
    probability: float
    passed: bool
    mark_passed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditLabels:
    """The labels of one metric that are a random sample.

    Attributes:
        judged: marks of the random stratum that people judged, a scenario's fault among them.
        of: marks of the random stratum.
        left_out: judged, and behind the first mark in the order of the draw that nobody has judged.
    """

    labels: tuple[Label, ...]
    judged: int
    of: int
    left_out: int


def audit_labels(queue: ReviewQueue, standing: Standing, metric: Metric) -> AuditLabels:
    """Return the labels of a metric that chance picked.

    Failed answers are reviewed first, so those judged so far among the ones drawn are not what was drawn. But the order
    of the draw is random, so that its beginning, up to the first mark that nobody has judged, is a random sample
    itself; what comes after it is left out until the gap is closed. Answers whose scenario is at fault have no truth
    and what is unscored no verdict that could be wrong: both are judged and make no label.
    """
    items = [item for item in queue.audit_items if item.mark.metric is metric]
    at_fault = standing.scenario_errors
    # A scenario at fault settles all of its answers.
    judged = [item.name in standing.latest or item.response.key.scenario in at_fault for item in items]
    sound = judged.index(False) if False in judged else len(judged)
    labels = []
    for item in items[:sound]:
        correction = standing.latest.get(item.name)
        if item.response.key.scenario in at_fault or correction is None or correction.passed is None:
            continue
        if item.mark.value is not None:
            labels.append(_label(item, passed=correction.passed, mark_value=item.mark.value))
    return AuditLabels(labels=tuple(labels), judged=sum(judged), of=len(items), left_out=sum(judged[sound:]))


def _label(item: ReviewItem, *, passed: bool, mark_value: float) -> Label:
    assert item.audit is not None
    return Label(
        key=item.response.key,
        cluster=item.scored.cluster,
        probability=item.audit,
        passed=passed,
        mark_passed=passes(item.mark.metric, mark_value),
    )
