"""Behaviour of fitting a route."""

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmask.control.features import FEATURES, Features
from unmask.stats import Interval
from unmask.testing.builders import make_generation, make_model, make_usage
from unmask.tune.routing import (
    RoutedItem,
    RouteRule,
    Tried,
    fit_task,
    items_needed,
    large_arm,
    loss_bound,
    route_items,
    thresholds,
)
from unmask.tune.routing_asking import charged
from unmask.tune.routing_run import judge

SMALL_S, LARGE_S = 1.0, 5.0


def items_of(
    seed: int,
    count: int,
    *,
    right: float = 1.0,
    caught: float = 1.0,
    small_s: float = SMALL_S,
) -> list[RoutedItem]:
    """Return items that the large model has right, and the small one where they have at most 8 digits of 16.

    Args:
        seed: of chance.
        count: how many.
        right: share of easy items that the small model has right.
        caught: share of its wrong answers that a verifier fails.
        small_s: seconds of an answer of the small model.
    """
    rng = Random(seed)
    items = []
    for _ in range(count):
        digits = rng.randint(0, 16)
        is_right = digits <= 8 and rng.random() < right
        accepted = is_right or rng.random() >= caught
        values = tuple(digits if name == "digits" else rng.randint(0, 8) for name in FEATURES)
        items.append(
            RoutedItem(
                features=Features(task="sort", values=values),
                small=Tried(is_right=is_right, is_accepted=accepted, seconds=small_s),
                large=Tried(is_right=True, is_accepted=True, seconds=LARGE_S),
            )
        )
    return items


def test_what_can_be_predicted_is_routed() -> None:
    """Half of the items are the small model's; the rest would only be paid twice, though every error is caught."""
    found = fit_task("sort", items_of(1, 300), items_of(2, 700), RouteRule())
    taken = found.found.taken

    assert taken is not None
    assert taken.small == pytest.approx(9 / 17, abs=0.05)
    assert (taken.lost, taken.upper < 0.01) == (0, True)
    assert taken.saving == pytest.approx(taken.small * (1 - SMALL_S / LARGE_S), abs=0.01)


def test_errors_that_nobody_catches_are_held_to_the_limit() -> None:
    """With a verifier that passes everything, one easy item in twenty wrong is too many, with or without escalation."""
    tuning, calibrating = items_of(1, 300, right=0.95, caught=0.0), items_of(2, 700, right=0.95, caught=0.0)
    strict = fit_task("sort", tuning, calibrating, RouteRule())
    lax = fit_task("sort", tuning, calibrating, RouteRule(max_loss=0.05))

    for found, limit in ((strict, 0.01), (lax, 0.05)):
        for one in (found.found, found.found_alone):
            assert one.taken is None or one.taken.upper <= limit
    assert lax.found.taken is not None
    assert lax.found.taken.small > 0.4
    assert strict.found.taken is None or strict.found.taken.small < 0.2


def test_a_verifier_that_catches_errors_allows_more_than_none() -> None:
    """What may be escalated is tried on more requests than what is answered as it is."""
    tuning, calibrating = items_of(1, 300, right=0.9), items_of(2, 700, right=0.9)
    found = fit_task("sort", tuning, calibrating, RouteRule())

    assert found.found.taken is not None
    assert found.found.taken.small > 0.4
    assert found.found_alone.taken is None or found.found_alone.taken.small < found.found.taken.small


@pytest.mark.parametrize(
    ("right", "caught", "small_s", "count", "reason"),
    [
        (0.0, 0.0, SMALL_S, 500, "never good enough"),
        (0.0, 1.0, SMALL_S, 500, "nothing is saved"),
        (1.0, 1.0, 2 * LARGE_S, 500, "nothing is saved"),
        (1.0, 1.0, SMALL_S, 100, "at least 437 needed"),
    ],
)
def test_a_small_model_that_is_of_no_use_is_never_tried(
    right: float, caught: float, small_s: float, count: int, reason: str
) -> None:
    """Always wrong, wrong and caught at its cost, dearer than the large one, measured on too little; it is said."""
    tuning, calibrating = (items_of(seed, count, right=right, caught=caught, small_s=small_s) for seed in (1, 2))
    found = fit_task("sort", tuning[:300], calibrating, RouteRule())

    assert reason in found.found.reason
    assert (found.route.threshold, found.route.threshold_alone) == (None, None)
    assert not route_items(
        calibrating, [0.9] * count, found.route.threshold, RouteRule(), can_escalate=True
    ).is_small.any()


def test_choosing_is_charged_to_every_request() -> None:
    """Also to those of the large model, so that a slow choice may save nothing."""
    items = items_of(3, 50)
    rule = RouteRule(decision_s=0.25)
    arm = route_items(items, [0.9] * 50, None, rule, can_escalate=True)
    found = fit_task("sort", items_of(1, 300), items_of(2, 700), RouteRule(decision_s=3.0))

    assert arm.seconds.tolist() == [LARGE_S + 0.25] * 50
    assert "nothing is saved" in found.found.reason


def test_an_escalated_request_pays_for_both_models() -> None:
    """And is answered by the large one; alone, the small one's answer stands."""
    item = items_of(4, 1)[0]
    wrong = RoutedItem(
        features=Features(task="sort", values=(1.0,) * len(FEATURES)),
        small=Tried(is_right=False, is_accepted=False, seconds=SMALL_S),
        large=item.large,
    )
    both, alone = (route_items([wrong], [0.9], 0.5, RouteRule(), can_escalate=can) for can in (True, False))

    assert (both.seconds.tolist(), both.is_right.tolist()) == ([SMALL_S + LARGE_S], [1.0])
    assert (alone.seconds.tolist(), alone.is_right.tolist()) == ([SMALL_S], [0.0])
    assert large_arm([wrong]).seconds.tolist() == [LARGE_S]


@settings(max_examples=25)
@given(st.integers(1, 60), st.data())
def test_a_loss_is_bounded_from_above(n: int, data: st.DataObject) -> None:
    """The bound is above what was seen, and higher the more is lost and the less is gained."""
    lost = data.draw(st.integers(0, n))
    gained = data.draw(st.integers(0, n - lost))
    bound = loss_bound(lost, gained, n)

    assert bound >= (lost - gained) / n
    assert lost == n or loss_bound(lost + 1, gained, n) >= bound
    assert gained == 0 or loss_bound(lost, gained - 1, n) >= bound


@pytest.mark.parametrize("max_loss", [0.01, 0.02, 0.1])
def test_so_many_items_without_a_loss_are_enough(max_loss: float) -> None:
    """And one fewer is not."""
    needed = items_needed(max_loss)

    assert loss_bound(0, 0, needed) <= max_loss < loss_bound(0, 0, needed - 1)


def test_thresholds_fall_to_zero() -> None:
    """The strictest first, each once, and at last every request that is like those fitted to."""
    grid = thresholds(np.linspace(0.2, 0.8, 100).tolist())

    assert list(grid) == sorted(set(grid), reverse=True)
    assert grid[0] == pytest.approx(0.8)
    assert grid[-1] == 0.0
    assert thresholds([0.5] * 9) == (0.5, 0.0)


def test_a_route_is_judged_with_intervals() -> None:
    """On the mixture and on each task type, with escalation and without, paired by item."""
    rule = RouteRule()
    fitted = fit_task("sort", items_of(1, 300), items_of(2, 700), rule)
    mixture, sort, *alone = judge([fitted], [items_of(5, 120)], rule)

    assert [(one.task, one.can_escalate) for one in (mixture, sort, *alone)] == [
        ("", True),
        ("sort", True),
        ("", False),
        ("sort", False),
    ]
    assert isinstance(mixture.saving, Interval)
    assert isinstance(mixture.quality, Interval)
    assert mixture.saving.low < mixture.saving.estimate == pytest.approx(mixture.small * 0.8, abs=0.01)
    assert mixture.quality.low <= 0 <= mixture.quality.high


def test_forwards_are_charged_by_tokens() -> None:
    """Their seconds add up to those of the engine; a server that tells none is charged by the clock."""
    model = make_model(default_canvas_length=16)
    answers = [
        make_generation(usage=make_usage(steps_used=steps, prefill_tokens=prefill, commit_tokens=0))
        for steps, prefill in ((1, 16), (5, 16))
    ]
    found = charged(answers, model, 8.0)

    assert found == [2.0, 6.0]
    assert charged(answers, model, 0.0) == [0.0, 0.0]
