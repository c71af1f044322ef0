"""Behaviour of `unmask.gate.labels` and `unmask.gate.judge_quality`."""

import random
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import mean

import pytest

from tests.gate.review_runs import FACT, make_correction, make_key, make_mark, make_response, make_scored
from unmask.gate.audit import AuditDraw
from unmask.gate.correction import Decision
from unmask.gate.judge_quality import Calibration, KnownWrong, SpecificitySource, calibrations
from unmask.gate.labels import audit_labels
from unmask.gate.response import ResponseKey, SystemLabel
from unmask.gate.review_queue import ReviewItem, ReviewQueue, review_queue
from unmask.gate.rogan_gladen import CorrectedRate, NoBetterThanChance
from unmask.gate.score import Metric, Scored
from unmask.gate.standing import Standing, standing_of
from unmask.stats import Interval, NotEnoughData


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A run whose truth is known: which answers are right, and what they were marked."""

    scores: tuple[Scored, ...]
    right: frozenset[ResponseKey]

    def queue(self, n: int, seed: int = 0) -> ReviewQueue:
        """Return the queue with an audit of so many answers."""
        draw = AuditDraw(seed=seed, n=n, of=len(self.scores), who="mina", when="now")
        return review_queue([make_response(one.key) for one in self.scores], self.scores, draw)

    def standing(self, items: Iterable[ReviewItem], *reviewers: str) -> Standing:
        """Return what people who know the truth say of some of the queue."""
        words = [
            make_correction(
                item.scored, Decision.CORRECT if item.response.key in self.right else Decision.WRONG, who=who
            )
            for item in items
            for who in reviewers or ("mina",)
        ]
        return standing_of(words, [make_response(one.key) for one in self.scores])

    def calibrated(self, queue: ReviewQueue, standing: Standing, **changes: KnownWrong | int) -> Calibration:
        """Return the calibration of the one metric."""
        known_wrong = changes.get("known_wrong")
        known = {FACT: known_wrong} if isinstance(known_wrong, KnownWrong) else {}
        least = changes.get("min_labels", 30)
        assert isinstance(least, int)
        (found,) = calibrations(queue, self.scores, standing, known, min_labels=least)
        return found


def make_judged(
    n: int, *, right: float = 0.85, sensitivity: float = 0.93, specificity: float = 0.75, seed: int = 1
) -> Judged:
    """Return a run of ``n`` answers that a judge with such faults has marked; some marks are borderline."""
    rng = random.Random(seed)
    scores, truly = [], set()
    for number in range(n):
        key = make_key(f"s{number}")
        is_right = rng.random() < right
        passed = rng.random() < (sensitivity if is_right else 1 - specificity)
        scores.append(make_scored(key, make_mark(float(passed), borderline=passed and rng.random() < 0.1)))
        truly |= {key} if is_right else set()
    return Judged(scores=tuple(scores), right=frozenset(truly))


def estimate(result: object) -> float:
    """Return the estimate of an interval that must be there."""
    assert isinstance(result, Interval | CorrectedRate), result
    return result.estimate


@pytest.fixture(name="audited", scope="module")
def _audited() -> tuple[Judged, list[Calibration]]:
    """Return a run of 1500 answers and 25 audits of 300 of them, all judged."""
    run = make_judged(1500)
    queues = [run.queue(300, seed) for seed in range(25)]
    return run, [run.calibrated(queue, run.standing(queue.audit_items)) for queue in queues]


def test_random_stratum_is_unbiased_and_targeted_labels_are_not(audited: tuple[Judged, list[Calibration]]) -> None:
    """The targeted ones show a judge that is nearly always wrong."""
    run, found = audited
    passed = {one.key: one.marks[0].value == 1 for one in run.scores}
    true_sensitivity = mean(passed[key] for key in run.right)
    items = run.queue(1).items
    targeted = [item.response.key for item in items if item.look is not None and item.response.key in run.right]
    by_targeted = mean(passed[key] for key in targeted)

    assert mean(estimate(one.sensitivity) for one in found) == pytest.approx(true_sensitivity, abs=0.01)
    assert abs(by_targeted - true_sensitivity) > 0.3
    assert mean(estimate(one.systems[0].people) for one in found) == pytest.approx(len(run.right) / 1500, abs=0.01)


def test_corrected_interval_holds_the_truth(audited: tuple[Judged, list[Calibration]]) -> None:
    """In nearly all audits, while the raw rate is off by more than its interval says."""
    run, audits = audited
    truth = len(run.right) / 1500
    found = [one.systems[0] for one in audits]
    raw = found[0].raw
    corrected = [one.corrected for one in found]

    assert isinstance(raw, Interval)
    assert not raw.low <= truth <= raw.high
    assert sum(isinstance(one, CorrectedRate) and one.low <= truth <= one.high for one in corrected) >= 23


def test_half_reviewed_audit_counts_up_to_its_first_gap() -> None:
    """Failures are reviewed first: those in the audit are no random part of it."""
    run = make_judged(1000)
    queue = run.queue(400)
    failed = [item for item in queue.items if item.look is not None]
    only_failed = audit_labels(queue, run.standing(failed), FACT)
    begun = audit_labels(queue, run.standing([*failed, *queue.audit_items[:100]]), FACT)

    assert only_failed.judged > 60
    assert len(only_failed.labels) + only_failed.left_out == only_failed.judged
    assert len(only_failed.labels) < 10
    assert len(begun.labels) >= 100
    assert {label.key for label in begun.labels[:100]} == {item.response.key for item in queue.audit_items[:100]}
    assert begun.of == 400


def test_scenario_at_fault_makes_no_label_and_no_gap() -> None:
    """Its answers have no truth; it is out of the raw rate too."""
    run = make_judged(40)
    queue = run.queue(40)
    first, *others = queue.audit_items
    at_fault = make_correction(first.scored, Decision.SCENARIO_ERROR)
    truth = [word for words in run.standing(others).of_each.values() for word in words]
    standing = standing_of([at_fault, *truth], [make_response(one.key) for one in run.scores])
    found = run.calibrated(queue, standing, min_labels=1)

    assert (found.audit.judged, len(found.audit.labels), found.audit.left_out) == (40, 39, 0)
    assert estimate(found.systems[0].raw) * 39 == pytest.approx(sum(item.mark.value == 1 for item in others))


def test_too_few_labels_are_not_enough_data() -> None:
    """Of either kind; more of one do not help the other."""
    run = make_judged(200, right=0.95)
    queue = run.queue(200)
    found = run.calibrated(queue, run.standing(queue.audit_items))
    bold = run.calibrated(queue, run.standing(queue.audit_items), min_labels=3)

    assert isinstance(found.sensitivity, Interval)
    assert isinstance(found.specificity, NotEnoughData)
    assert "at least 30" in found.specificity.reason
    assert isinstance(found.systems[0].corrected, NotEnoughData)
    assert isinstance(bold.specificity, Interval)


def test_known_wrong_answers_stand_in_for_specificity() -> None:
    """Where chance found too few mistakes; the source is said, and the two are never mixed."""
    run = make_judged(200, right=0.95)
    queue = run.queue(200)
    standing = run.standing(queue.audit_items)
    found = run.calibrated(queue, standing, known_wrong=KnownWrong(caught=85, of=100))
    few = run.calibrated(queue, standing, known_wrong=KnownWrong(caught=8, of=10))

    assert found.source is SpecificitySource.KNOWN_WRONG
    assert isinstance(found.specificity, NotEnoughData)
    assert estimate(found.caught) == 0.85
    assert isinstance(found.systems[0].corrected, CorrectedRate)
    assert few.source is None
    assert isinstance(few.caught, NotEnoughData)


def test_judge_that_always_says_yes_is_caught() -> None:
    """By answers known to be wrong, or by people: its rate says nothing, corrected or not."""
    run = make_judged(400, right=0.8, sensitivity=1.0, specificity=0.0)
    queue = run.queue(400)
    by_people = run.calibrated(queue, run.standing(queue.audit_items))
    perfect = make_judged(200, right=1.0, sensitivity=1.0)
    all_right = perfect.queue(200)
    by_mutation = perfect.calibrated(
        all_right, perfect.standing(all_right.audit_items), known_wrong=KnownWrong(caught=0, of=50)
    )

    assert isinstance(by_people.systems[0].corrected, NoBetterThanChance)
    assert isinstance(by_mutation.systems[0].corrected, NoBetterThanChance)


def test_answers_of_one_cluster_count_as_one() -> None:
    """The same rates over a tenth of the clusters have wider intervals."""
    run = make_judged(600, right=0.7)
    clustered = Judged(
        scores=tuple(
            make_scored(one.key, *one.marks, cluster=f"c{number // 10}") for number, one in enumerate(run.scores)
        ),
        right=run.right,
    )
    apart, together = (
        one.calibrated(queue := one.queue(600), one.standing(queue.audit_items)) for one in (run, clustered)
    )

    assert isinstance(apart.sensitivity, Interval)
    assert isinstance(together.sensitivity, Interval)
    assert together.sensitivity.estimate == apart.sensitivity.estimate
    assert together.sensitivity.width > 2 * apart.sensitivity.width


def test_systems_have_rates_of_their_own() -> None:
    """And share what is known of the judge; a metric that no answer has is left out."""
    run = make_judged(100)
    other = tuple(
        make_scored(make_key(one.key.scenario, system=SystemLabel.AGAINST), make_mark(0.0)) for one in run.scores
    )
    both = Judged(scores=(*run.scores, *other), right=run.right)
    queue = both.queue(200)
    found = both.calibrated(queue, both.standing(queue.audit_items))

    assert [one.system for one in found.systems] == list(SystemLabel)
    assert [estimate(one.raw) for one in found.systems][1] == 0.0
    assert found.metric is FACT


def test_agreement_is_of_marks_that_several_people_judged() -> None:
    """Two who know the truth agree; marks that one person judged say nothing."""
    run = make_judged(40)
    queue = run.queue(40)
    several = run.calibrated(queue, run.standing(queue.audit_items, "mina", "jun"))
    single = run.calibrated(queue, run.standing(queue.audit_items))

    assert estimate(several.agreement) == 1.0
    assert isinstance(single.agreement, NotEnoughData)


def test_unscored_marks_are_judged_and_make_no_label() -> None:
    """What has no verdict cannot have a wrong one."""
    scores = tuple(make_scored(make_key(f"s{number}"), make_mark(None)) for number in range(5))
    run = Judged(scores=scores, right=frozenset(one.key for one in scores))
    queue = run.queue(5)
    found = run.calibrated(queue, run.standing(queue.audit_items))

    assert (found.targeted, found.audit.judged, found.audit.labels) == (5, 5, ())
    assert isinstance(found.systems[0].raw, NotEnoughData)


def test_hallucination_is_passed_where_nothing_false_is_said() -> None:
    """Right and wrong are the same way round for every metric."""
    scores = tuple(
        make_scored(make_key(f"s{number}"), make_mark(float(number < 10), Metric.HALLUCINATION)) for number in range(40)
    )
    draw = AuditDraw(seed=0, n=40, of=40, who="mina", when="now")
    queue = review_queue([make_response(one.key) for one in scores], scores, draw)
    words = [make_correction(item.scored, Decision.CORRECT, metric=Metric.HALLUCINATION) for item in queue.audit_items]
    (found,) = calibrations(queue, scores, standing_of(words, [make_response(one.key) for one in scores]), {})

    assert estimate(found.sensitivity) == 0.75
    assert estimate(found.systems[0].people) == 1.0
