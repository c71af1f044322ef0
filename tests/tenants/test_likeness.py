"""Behaviour of `unmask.tenants.likeness`."""

import numpy as np
import pytest

from unmask.stats import Interval, NotEnoughData
from unmask.tenants.likeness import Likeness, likenesses
from unmask.tenants.traffic import Hour

WAITING = (3.0, 0.7, 3.0, 2.0)
"""Twenty requests an hour, one at a time."""
FLOODING = (7.0, 4.0, 5.0, 2.0)
"""A thousand, fifty at once."""
HOURS = 40


def hours(
    tenant: str, service_class: str, like: tuple[float, ...], count: int = HOURS, seed: int = 0
) -> tuple[Hour, ...]:
    """Return hours of a tenant that scatter about some features."""
    rng = np.random.default_rng([seed, *tenant.encode()])
    drawn = rng.normal(like, 0.5, size=(count, len(like)))
    return tuple(Hour(tenant=tenant, service_class=service_class, features=tuple(row)) for row in drawn.tolist())


def traffic(*more: Hour, seed: int = 0) -> tuple[Hour, ...]:
    """Return honest tenants of two classes, and some more."""
    people = (hours(name, "interactive", WAITING, seed=seed) for name in ("ann", "bob", "cem"))
    machines = (hours(name, "batch", FLOODING, seed=seed) for name in ("nightly", "weekly"))
    return (*(hour for of in (*people, *machines) for hour in of), *more)


def named(found: tuple[Likeness, ...]) -> list[tuple[str, str, str]]:
    """Return who is named, and for what."""
    return [(one.tenant, one.asked, one.other) for one in found if one.is_named]


def test_a_batch_in_the_interactive_class_is_named() -> None:
    """What it sends lies where the batch class is, with the figures that say so."""
    found = likenesses(traffic(*hours("sly", "interactive", FLOODING)), 0)
    sly = next(one for one in found if one.tenant == "sly")

    assert named(found) == [("sly", "interactive", "batch")]
    assert isinstance(sly.position, Interval)
    assert 0.9 < sly.position.low < sly.position.estimate < sly.position.high < 1.1
    assert sly.hours == HOURS
    assert [round(own) for own, _, _ in sly.means] == [round(other) for _, _, other in sly.means] == [7, 4, 5, 2]


def test_a_person_in_the_batch_class_is_named_too() -> None:
    """Waiting in the wrong queue helps nobody."""
    assert named(likenesses(traffic(*hours("shy", "batch", WAITING)), 0)) == [("shy", "batch", "interactive")]


def test_a_large_tenant_does_not_define_its_class() -> None:
    """Whose traffic is judged is compared with others, even if most of the class is its own."""
    near = tuple(own + 0.8 * (other - own) for own, other in zip(WAITING, FLOODING, strict=True))
    found = likenesses(traffic(*hours("sly", "interactive", near, count=400)), 0)
    sly = next(one for one in found if one.tenant == "sly")

    assert isinstance(sly.position, Interval)
    assert sly.position.estimate == pytest.approx(0.8, abs=0.05)
    assert ("sly", "interactive", "batch") in named(found)


def test_honest_tenants_are_hardly_ever_named() -> None:
    """Where classes differ little and all are as their class is, at most 5 reports in 100 name somebody."""
    near = tuple(value + 0.4 for value in WAITING)

    def report(seed: int) -> list[tuple[str, str, str]]:
        people = [hours(f"person {n}", "interactive", WAITING, count=12, seed=seed) for n in range(4)]
        machines = [hours(f"machine {n}", "batch", near, count=12, seed=seed) for n in range(4)]
        return named(likenesses([hour for of in (*people, *machines) for hour in of], seed))

    assert sum(bool(report(seed)) for seed in range(3)) == 0


def test_classes_that_are_alike_name_nobody() -> None:
    """Where the two cannot be told apart, the interval has no end worth the name."""
    everyone = [
        hour
        for name, service_class in (("a", "x"), ("b", "x"), ("c", "y"), ("d", "y"))
        for hour in hours(name, service_class, WAITING)
    ]
    found = likenesses(everyone, 0)

    assert named(found) == []
    assert all(isinstance(one.position, Interval) and one.position.width > 1 for one in found)


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (hours("new", "interactive", FLOODING, count=9), "9 hours of its own"),
        (hours("only", "lonely", FLOODING), "0 hours of others in the class"),
    ],
)
def test_too_little_is_said_to_be(more: tuple[Hour, ...], reason: str) -> None:
    """Nine hours, or nobody to compare with, name nobody."""
    found = likenesses(traffic(*more), 0)
    ours = [one.position for one in found if one.tenant == more[0].tenant]

    assert named(found) == []
    assert ours
    assert all(isinstance(position, NotEnoughData) and reason in position.reason for position in ours)


def test_nothing_is_compared_without_two_classes() -> None:
    """No traffic, or one class alone."""
    assert likenesses((), 0) == ()
    assert likenesses(hours("ann", "interactive", WAITING), 0) == ()


def test_hours_that_never_differ_are_compared() -> None:
    """Machines send the same hour after hour; that they do is no reason to say nothing."""
    flat = [
        Hour(tenant=tenant, service_class=service_class, features=features)
        for tenant, service_class, features in (
            ("a", "interactive", WAITING),
            ("b", "interactive", WAITING),
            ("c", "batch", FLOODING),
            ("sly", "interactive", FLOODING),
        )
        for _ in range(12)
    ]

    assert ("sly", "interactive", "batch") in named(likenesses(flat, 0))


def test_a_report_is_the_same_again() -> None:
    """With the same seed."""
    hours_of_all = traffic(*hours("sly", "interactive", FLOODING))

    assert likenesses(hours_of_all, 3) == likenesses(hours_of_all, 3)
