"""How often marks are right, by what people say of answers that chance picked and by answers known to be wrong."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from unmask.gate.bar import REVIEWED, passes
from unmask.gate.labels import AuditLabels, Label, audit_labels
from unmask.gate.response import SystemLabel
from unmask.gate.review_queue import ReviewQueue
from unmask.gate.rogan_gladen import RateResult, corrected_rate
from unmask.gate.score import Metric, Scored
from unmask.gate.standing import Standing
from unmask.stats import IntervalResult, NotEnoughData, Share, effective_share, weighted_rate, wilson

MIN_LABELS = 30
"""Labels of a kind (let pass by people, or failed) below which how often the judge is right is not told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownWrong:
    """Answers that were made wrong on purpose: how many of them the judge failed. Its specificity, seen elsewhere."""

    caught: int
    of: int


class SpecificitySource(StrEnum):
    """Which wrong answers a correction rests on. Mistakes made on purpose may be easier to see than a model's own."""

    AUDIT = "audit"
    KNOWN_WRONG = "known_wrong"


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemRate:
    """A metric's rate of passes for one system.

    Attributes:
        raw: by the marks of all its answers.
        people: by people, of its answers in the random stratum.
        corrected: the raw one without the judge's mistakes.
    """

    system: SystemLabel
    raw: IntervalResult
    people: IntervalResult
    corrected: RateResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """How good the marks of a metric are, and what they would say without their mistakes.

    Intervals count the answers of a cluster as one. A judge is taken to be as good on one system's answers as on the
    other's.

    Attributes:
        targeted: failed, borderline and unscored marks that people judged; they tell what is wrong and no rate.
        targeted_of: how many such marks there are.
        sensitivity: share of right answers that are marked so, from the random stratum.
        specificity: share of wrong answers that are marked so, from the random stratum.
        caught: share of answers known to be wrong that are marked so; never mixed with ``specificity``.
        source: where the specificity of the corrected rates is from; ``None`` where neither is known.
        agreement: share of marks judged by several people on which they agree.
    """

    metric: Metric
    targeted: int
    targeted_of: int
    audit: AuditLabels
    sensitivity: IntervalResult
    specificity: IntervalResult
    caught: IntervalResult
    source: SpecificitySource | None
    agreement: IntervalResult
    systems: tuple[SystemRate, ...]


def calibrations(
    queue: ReviewQueue,
    scores: Iterable[Scored],
    standing: Standing,
    known_wrong: Mapping[Metric, KnownWrong],
    *,
    min_labels: int = MIN_LABELS,
    confidence: float = 0.95,
) -> tuple[Calibration, ...]:
    """Return how good the marks of every metric are that any answer has; ``scores`` are the marks as they were made."""
    found = tuple(scores)
    metrics = {mark.metric for one in found for mark in one.marks}
    maker = _Maker(queue, found, standing, min_labels, confidence)
    return tuple(maker.calibration(metric, known_wrong.get(metric)) for metric in REVIEWED if metric in metrics)


class _Maker:
    """Holds what every figure of a run rests on."""

    def __init__(
        self, queue: ReviewQueue, scores: Sequence[Scored], standing: Standing, min_labels: int, confidence: float
    ) -> None:
        self._queue = queue
        self._scores = scores
        self._standing = standing
        self._min = min_labels
        self._confidence = confidence

    def calibration(self, metric: Metric, known_wrong: KnownWrong | None) -> Calibration:
        audit = audit_labels(self._queue, self._standing, metric)
        right = [label for label in audit.labels if label.passed]
        wrong = [label for label in audit.labels if not label.passed]
        source = self._source(wrong, known_wrong)
        targeted = [item.name for item in self._queue.items if item.look is not None and item.mark.metric is metric]
        return Calibration(
            metric=metric,
            targeted=sum(name in self._standing.latest for name in targeted),
            targeted_of=len(targeted),
            audit=audit,
            sensitivity=self._rate(right, [label.mark_passed for label in right], "right"),
            specificity=self._rate(wrong, [not label.mark_passed for label in wrong], "wrong"),
            caught=self._caught(known_wrong),
            source=source,
            agreement=self._agreement(metric),
            systems=tuple(
                self._system(metric, system, audit, self._specificity(source, wrong, known_wrong))
                for system in SystemLabel
                if any(one.key.system is system for one in self._scores)
            ),
        )

    def _rate(self, labels: Sequence[Label], hits: Sequence[bool], kind: str) -> IntervalResult:
        if len(labels) < self._min:
            return self._too_few(len(labels), f"labels of {kind} answers")
        return weighted_rate(hits, [one.probability for one in labels], self._confidence, clusters=_clusters(labels))

    def _caught(self, known_wrong: KnownWrong | None) -> IntervalResult:
        if known_wrong is None or known_wrong.of < self._min:
            return self._too_few(0 if known_wrong is None else known_wrong.of, "answers known to be wrong")
        return wilson(known_wrong.caught, known_wrong.of, self._confidence)

    def _source(self, wrong: Sequence[Label], known_wrong: KnownWrong | None) -> SpecificitySource | None:
        if len(wrong) >= self._min:
            return SpecificitySource.AUDIT
        is_known = known_wrong is not None and known_wrong.of >= self._min
        return SpecificitySource.KNOWN_WRONG if is_known else None

    def _specificity(
        self, source: SpecificitySource | None, wrong: Sequence[Label], known_wrong: KnownWrong | None
    ) -> Share | None:
        if source is SpecificitySource.KNOWN_WRONG and known_wrong is not None:
            return Share(rate=known_wrong.caught / known_wrong.of, n=known_wrong.of)
        return None if source is None else _share(wrong, [not label.mark_passed for label in wrong])

    def _system(self, metric: Metric, system: SystemLabel, audit: AuditLabels, specificity: Share | None) -> SystemRate:
        values = [
            (one.cluster, passes(metric, mark.value))
            for one in self._scores
            if one.key.system is system and one.key.scenario not in self._standing.scenario_errors
            for mark in one.marks
            if mark.metric is metric and mark.value is not None
        ]
        marked, clusters = [passed for _, passed in values], [cluster for cluster, _ in values]
        certain = [1.0] * len(values)
        own = [label for label in audit.labels if label.key.system is system]
        raw = effective_share(marked, certain, clusters=clusters)
        right = [label for label in audit.labels if label.passed]
        return SystemRate(
            system=system,
            raw=weighted_rate(marked, certain, self._confidence, clusters=clusters),
            people=self._rate(own, [label.passed for label in own], "its"),
            corrected=self._corrected(raw, right, specificity),
        )

    def _corrected(self, raw: Share | None, right: Sequence[Label], specificity: Share | None) -> RateResult:
        if len(right) < self._min:
            return self._too_few(len(right), "labels of right answers")
        if specificity is None:
            return NotEnoughData(
                n=0, reason=f"fewer than {self._min} wrong answers, drawn by chance or made so, are known"
            )
        sensitivity = _share(right, [label.mark_passed for label in right])
        if raw is None or sensitivity is None:
            return NotEnoughData(n=0, reason="no answer is marked")
        return corrected_rate(raw, sensitivity, specificity, self._confidence)

    def _agreement(self, metric: Metric) -> IntervalResult:
        several = [words for (_, of), words in self._standing.of_each.items() if of is metric and len(words) > 1]
        agreed = sum(len({word.passed for word in words}) == 1 for words in several)
        return wilson(agreed, len(several), self._confidence)

    def _too_few(self, n: int, what: str) -> NotEnoughData:
        return NotEnoughData(n=n, reason=f"{n} {what}, at least {self._min} needed")


def _share(labels: Sequence[Label], hits: Sequence[bool]) -> Share | None:
    return effective_share(hits, [label.probability for label in labels], clusters=_clusters(labels))


def _clusters(labels: Sequence[Label]) -> list[str]:
    return [label.cluster for label in labels]
