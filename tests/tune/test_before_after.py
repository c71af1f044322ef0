"""Behaviour of `unmask.tune.before_after`."""

import pytest

from tests.tune.paired import make_paired
from unmask.stats import Interval, NotEnoughData
from unmask.tune.before_after import ALL, Comparison, compare, comparison_json, comparison_rows
from unmask.tune.paired_run import Arm, PairedRecord


def records(count: int = 40) -> list[PairedRecord]:
    """Return items that the new policy answers in half the steps; one in ten of its exits is wrong."""
    before = [make_paired(item=f"i{n}", steps=8 + n % 3, seconds=0.5 + n % 2 / 10) for n in range(count)]
    after = [
        make_paired(Arm.AFTER, f"i{n}", steps=4 + n % 3, seconds=0.25, correct=n % 10 > 0, misjudged=n % 10 == 0)
        for n in range(count)
    ]
    return [*before, *after]


def found(count: int = 40) -> Comparison:
    """Compare one task type."""
    one, whole = compare(records(count), ("sort",), 0)
    assert whole.task == ALL
    return one


def test_differences_are_item_by_item() -> None:
    """New minus old; every item saves just four steps, which the spread between items does not blur."""
    comparison = found()

    assert isinstance(comparison.steps, Interval)
    assert comparison.steps.estimate == -4.0
    assert comparison.steps.high < -2.5
    assert isinstance(comparison.quality, Interval)
    assert comparison.quality.estimate == pytest.approx(-0.1)
    assert isinstance(comparison.seconds, Interval)
    assert comparison.seconds.estimate == pytest.approx(-0.3)
    assert comparison.seconds.high < -0.25


def test_misjudgement_is_of_exits() -> None:
    """Where no exit was met there is nothing to tell."""
    comparison = found()

    assert isinstance(comparison.after.misjudgement, Interval)
    assert (comparison.after.exits, comparison.after.misjudgement.estimate) == (40, 0.1)
    assert (comparison.before.exits, isinstance(comparison.before.misjudgement, NotEnoughData)) == (0, True)


def test_order_does_not_matter() -> None:
    """A run that went on ends in another order than one that did not."""
    assert compare(records()[::-1], ("sort",), 0) == compare(records(), ("sort",), 0)


def test_one_item_is_not_enough() -> None:
    """It is said, in text and in JSON."""
    comparison = found(1)
    shown = {row[0]: row for row in comparison_rows(comparison)}

    assert isinstance(comparison.seconds, NotEnoughData)
    assert shown["mean s"][3] == "not enough data"
    assert shown["misjudgement"][1] == "no exits"
    value = comparison_json(comparison)
    assert value["items"] == 1
    assert value["seconds_difference"]["value"] is None  # type: ignore[index]


def test_half_an_item_is_refused() -> None:
    """Nothing pairs with it."""
    with pytest.raises(ValueError, match="one policy only"):
        compare(records()[:-1], ("sort",), 0)
