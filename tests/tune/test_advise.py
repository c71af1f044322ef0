"""Advice follows from the measured spread, and says when there is none to give."""

import io
from dataclasses import replace

import numpy as np
import orjson
import pytest
from rich.console import Console

from unmask.policy.policy import BudgetMode
from unmask.stats import Interval, NotEnoughData
from unmask.testing.curves import make_curve, make_curves
from unmask.tune.advise import Limits, NoAdvice, TaskAdvice, advice_json, advice_table, advise
from unmask.tune.arms import replay
from unmask.tune.curve import Curve

GRID = (1, 4, 16)


def by_length(count: int, *, share_easy: float, seed: int = 0) -> Curve:
    """Return items that are right from 1 step on when short, and from 16 on when long."""
    rng = np.random.default_rng(seed)
    easy = rng.random(count) < share_easy
    correct = np.stack([easy, easy, np.ones(count, dtype=np.bool_)])
    curve = make_curve(*("0" * count for _ in GRID), grid=GRID)
    return replace(curve, correct=correct, difficulty=tuple(f"length={3 if short else 12}" for short in easy))


def advice_on(curve: Curve, limits: Limits | None = None) -> TaskAdvice:
    """Return advice on one curve."""
    (entry,) = advise(make_curves(curve), limits)
    assert isinstance(entry, TaskAdvice)
    return entry


def test_a_wide_spread_that_the_axes_tell_is_adaptive() -> None:
    """Most items need one step, the others sixteen, and their length says which."""
    entry = advice_on(by_length(1000, share_easy=0.7))

    assert entry.mode is BudgetMode.ADAPTIVE
    assert isinstance(entry.saved, Interval)
    assert entry.saved.low > 8
    assert isinstance(entry.fixed.p99_steps, Interval)
    assert entry.fixed.p99_steps.high == 16
    assert isinstance(entry.fixed.worst_bin, Interval)
    assert entry.fixed.worst_bin.estimate == 1.0


def test_spread_that_no_axis_tells_is_fixed() -> None:
    """Items differ, but nothing known before the first step says how."""
    curve = by_length(1000, share_easy=0.7)
    entry = advice_on(replace(curve, difficulty=("length=5",) * 1000))

    assert entry.mode is BudgetMode.FIXED
    assert "does not surely save" in entry.reason


def test_no_spread_is_fixed() -> None:
    """Where every item needs the same there is nothing to adapt to."""
    entry = advice_on(make_curve("0" * 200, "1" * 200, "1" * 200, grid=GRID))

    assert entry.mode is BudgetMode.FIXED
    assert isinstance(entry.saved, Interval)
    assert entry.saved.estimate == 0


def test_what_adaptive_may_cost_is_limited() -> None:
    """With few items the quality difference is not known well enough, whatever is saved."""
    entry = advice_on(by_length(120, share_easy=0.7), Limits(most_loss=0.001))

    assert entry.mode is BudgetMode.FIXED
    assert "quality" in entry.reason


def test_nothing_is_judged_on_what_it_was_chosen_on() -> None:
    """Random answers under many axes: what is fitted on one half is mere chance on the other, and shows as that."""
    rng = np.random.default_rng(5)
    correct = rng.random((3, 400)) < 0.5
    curve = replace(
        make_curve(*("0" * 400 for _ in GRID), grid=GRID),
        correct=correct,
        difficulty=tuple(" ".join(f"a{axis}={rng.integers(9)}" for axis in range(6)) for _ in range(400)),
    )
    arms = replay(curve, 0)

    assert abs(arms.adaptive.correct.mean() - 0.5) < 0.1


def test_replays_are_seeded() -> None:
    """Equal seeds split the items alike."""
    curve = by_length(300, share_easy=0.5)

    np.testing.assert_array_equal(replay(curve, 1).bins, replay(curve, 1).bins)
    np.testing.assert_array_equal(replay(curve, 1).adaptive.steps, replay(curve, 1).adaptive.steps)


@pytest.mark.parametrize("count", [1, 2, 99])
def test_few_items_give_no_advice(count: int) -> None:
    """Not enough data is an answer."""
    (entry,) = advise(make_curves(make_curve("0" * count, "1" * count, "1" * count, grid=GRID)))

    assert entry == NoAdvice(task="sort", lacking=NotEnoughData(n=count, reason=f"{count} items, at least 100 needed"))


def test_it_is_shown_and_told() -> None:
    """Two lines a task type with intervals, the advice on the line it names, and the same as JSON."""
    few = make_curve(*("0" * 20 for _ in GRID), grid=GRID)
    advice = (*advise(make_curves(by_length(1000, share_easy=0.7))), *advise(make_curves(few)))
    console = Console(file=io.StringIO(), width=220)
    console.print(advice_table(advice))
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()

    assert "adaptive: saves" in text
    assert "not enough data: 20 items" in text
    first, second = orjson.loads(orjson.dumps(advice_json(advice)))
    assert (first["mode"], second["mode"]) == ("adaptive", None)
    assert first["fixed"]["p99_steps"]["high"] == 16
