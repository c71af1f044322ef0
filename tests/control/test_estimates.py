"""Behaviour of `unmask.control.estimates`."""

from random import Random

import pytest

from tests.control.handmade import make_label, make_record
from unmask.control.estimates import estimate_rules
from unmask.control.records import ControlRecord
from unmask.control.verdict import Judge
from unmask.stats import Interval, NotEnoughData, wilson


def verdicts(passed: bool | None, exit_passed: bool | None, **changes: object) -> ControlRecord:
    """Return a control with these verdicts on its two texts."""
    return make_record(passed=passed, exit_passed=exit_passed, diverged=passed != exit_passed, **changes)


NEVER = make_record(exit_steps=None, exit_passed=None, diverged=None, exit_text=None)


def test_every_combination_has_its_name() -> None:
    """Of those that would have exited; what ran on anyway and what nobody judged counts for neither."""
    records = [
        *[verdicts(True, True)] * 4,
        *[verdicts(True, False)] * 3,
        *[verdicts(False, True)] * 2,
        verdicts(False, False),
        verdicts(None, None, judges=()),
        NEVER,
    ]
    (found,) = estimate_rules(records)

    assert (found.controls, found.exits, found.judged, found.judges) == (12, 11, 10, (Judge.TASK,))
    assert (found.misjudgement, found.reverse, found.both_wrong) == (wilson(3, 10), wilson(2, 10), wilson(1, 10))
    assert (found.divergence, found.exit_rate) == (wilson(5, 11), wilson(11, 12))
    assert (found.steps, found.extra_steps) == (12 * 8, 11 * 5)


def test_nothing_is_not_zero() -> None:
    """Controls that never exit say nothing of misjudgement."""
    (found,) = estimate_rules([NEVER])

    assert isinstance(found.misjudgement, NotEnoughData)
    assert isinstance(found.divergence, NotEnoughData)
    assert found.extra_steps == 0
    assert estimate_rules([]) == ()


@pytest.mark.parametrize("field", ["model", "model_digest", "policy", "task"])
def test_rules_are_kept_apart(field: str) -> None:
    """Another task type, policy or model is another rule."""
    found = estimate_rules([make_record(), make_record(**{field: "other"}), make_record()])

    assert [estimate.controls for estimate in found] == [2, 1]


def test_person_overrules_a_verifier() -> None:
    """The last word counts, on both texts; one on a control that would not have exited makes it no exit."""
    records = [make_record(id="a"), make_record(id="b", judges=(), passed=None, exit_passed=None, diverged=True), NEVER]
    labels = [
        make_label(control="a", exit_passed=True),
        make_label(control="a", exit_passed=False),
        make_label(control="b"),
        make_label(control="c1"),
        make_label(control="gone"),
    ]
    (found,) = estimate_rules(records, labels)

    assert (found.judged, found.judges) == (2, (Judge.PERSON,))
    assert found.misjudgement == wilson(1, 2)


def test_weighted_estimate_covers_the_truth() -> None:
    """Young controls are drawn at 20 %, later ones at 5 %, when 3 % are misjudged and no longer 9 %.

    Of all requests 4.5 % are; counting controls alike would say 6.4 %. About 190 of 200 intervals hold the truth.
    """
    rng = Random(5)
    covered, estimates = 0, list[float]()
    for _ in range(200):
        records = [
            verdicts(True, rng.random() >= rate, probability=share)
            for count, share, rate in ((1_000, 0.2, 0.09), (3_000, 0.05, 0.03))
            for _ in range(count)
            if rng.random() < share
        ]
        (found,) = estimate_rules(records)
        assert isinstance(found.misjudgement, Interval)
        covered += found.misjudgement.low <= 0.045 <= found.misjudgement.high
        estimates.append(found.misjudgement.estimate)

    assert sum(estimates) / len(estimates) == pytest.approx(0.045, abs=0.003)
    assert covered >= 183
