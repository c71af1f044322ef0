"""Behaviour of `unmask.tune.traffic_check`."""

from dataclasses import replace
from datetime import UTC, datetime
from random import Random
from typing import Any

from tests.control.handmade import make_label, make_record
from unmask.control.records import ControlRecord
from unmask.stats import Interval, NotEnoughData
from unmask.stats.sequential import Watch
from unmask.testing.budget_policies import make_exit, make_policy, make_task_policy
from unmask.tune.traffic_check import Due, TrafficCheck, check_traffic

PROMOTED = datetime(2026, 1, 1, tzinfo=UTC)
START = PROMOTED.timestamp()
DIGEST = "p" * 64
POLICY = make_policy(tasks=(make_task_policy(), make_task_policy("sort", exit=make_exit(enabled=True))))


def controls(count: int, *, start: int = 0, digits: float = 5.0, **changes: Any) -> list[ControlRecord]:  # noqa: ANN401
    """Return controls, a second apart, with digits spread around some value."""
    rng = Random(f"{start} {digits}")
    return [
        make_record(
            **{
                "id": f"c{start + place}",
                "time": START + start + place,
                "policy": DIGEST,
                "features": (("digits", digits + rng.randint(-3, 3)), ("hangul", 0.0)),
                "steps": rng.randint(4, 8),
                **changes,
            }
        )
        for place in range(count)
    ]


def checked(records: list[ControlRecord], **options: Any) -> TrafficCheck:  # noqa: ANN401 - any option
    """Check under the policy."""
    return check_traffic(POLICY, DIGEST, PROMOTED, records, **options)


def test_traffic_that_stays_is_no_reason() -> None:
    """Features and steps are tested; one that has a single value is not."""
    found = checked(controls(1200))

    assert (found.due, found.reasons, found.controls) == (Due.NOTHING, (), 1200)
    assert {entry.found.feature for entry in found.drift} == {"digits", "steps"}
    assert [(entry.task, entry.reference, entry.recent) for entry in found.periods] == [("sort", 500, 700)]


def test_harder_requests_are_found() -> None:
    """The feature that has moved is named, with where from and where to."""
    found = checked(controls(600) + controls(600, start=600, digits=7.0))

    assert found.due is Due.RECALIBRATE
    assert any("sort: digits has moved" in reason for reason in found.reasons)
    assert not any("hangul" in reason for reason in found.reasons)


def test_steps_alone_may_move() -> None:
    """A policy without estimator has controls without features."""
    found = checked(controls(600, features=()) + controls(600, start=600, features=(), steps=8))

    assert found.due is Due.RECALIBRATE
    assert [entry.found.feature for entry in found.drift] == ["steps"]


def test_too_few_controls_are_not_enough() -> None:
    """On either side; and none at all."""
    assert checked(controls(999)).due is Due.UNKNOWN
    assert checked([]).due is Due.UNKNOWN
    assert checked(controls(1000)).due is Due.NOTHING


def test_the_reference_begins_with_the_promotion() -> None:
    """Controls of other policies, and from before this one became active (again), do not count."""
    before = controls(700, start=-700, digits=1.0)
    other = controls(700, start=0, digits=1.0, policy="q" * 64)
    found = checked(before + other + controls(1100))

    assert (found.controls, found.due) == (1100, Due.NOTHING)


def test_a_changed_share_of_controls_is_no_drift() -> None:
    """Young controls are drawn more often, and so are some task types: each is compared with itself."""
    sort = controls(1100, digits=5.0)
    other = controls(1100, digits=9.0, task="latin")
    rng = Random(1)
    early = [record for record in sort[:550] + other[:550] if rng.random() < 0.97]
    late = sort[550:] + other[550:1090]
    found = checked(early + [replace(record, probability=0.01) for record in late], reference=500)

    assert found.reasons == ()


def test_misjudgement_above_its_limit_is_found() -> None:
    """However few the controls: the test may be looked at at any time."""
    wrong = controls(40, exit_passed=False, diverged=True)
    found = checked(wrong)
    (watched,) = found.watches

    assert found.due is Due.RECALIBRATE
    assert found.alarmed == ("sort",)
    assert isinstance(watched.watch, Watch)
    assert isinstance(watched.misjudgement, Interval)
    assert watched.misjudgement.estimate == 1.0


def test_rules_that_only_observe_do_no_harm() -> None:
    """They are not watched."""
    quiet = make_policy(tasks=(make_task_policy(), make_task_policy("sort", exit=make_exit())))
    found = check_traffic(quiet, DIGEST, PROMOTED, controls(40, exit_passed=False))

    assert (found.watches, found.due) == ((), Due.UNKNOWN)


def test_exits_without_a_verdict_are_not_guessed_at() -> None:
    """Those that somebody judged are no random sample; once all are labelled, labels count."""
    open_ones = controls(40, judges=(), passed=None, exit_passed=None)
    labels = [make_label(control=record.id, exit_passed=False) for record in open_ones]
    (part,) = checked(open_ones, labels=labels[:39]).watches
    whole = checked(open_ones, labels=labels)

    assert isinstance(part.watch, NotEnoughData)
    assert "1 of 40 exits have no verdict" in part.watch.reason
    assert whole.alarmed == ("sort",)


def test_unknown_probabilities_are_refused() -> None:
    """A control of probability 0 was not drawn by any rule that is known."""
    (found,) = checked(controls(40, probability=0.0)).watches

    assert isinstance(found.watch, NotEnoughData)
    assert "probability 0" in found.watch.reason


def test_misjudgement_within_its_limit_raises_no_alarm_whatever_the_probability() -> None:
    """Of 100 sequences with the rate at the limit, drawn at a falling probability, at most about 5 raise one."""
    alarms = 0
    for seed in range(100):
        rng = Random(seed)
        records = [
            replace(record, exit_passed=rng.random() >= 0.01, probability=0.1 if place < 200 else 0.02)
            for place, record in enumerate(controls(400))
        ]
        alarms += bool(checked(records).alarmed)

    assert alarms <= 11
