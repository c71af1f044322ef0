"""Features and score of finality, by hand and from traces."""

import math
from dataclasses import replace

import numpy as np
import pytest

from unmask.policy.finality import (
    FEATURES,
    Sight,
    ages,
    closed,
    features,
    finality_fault,
    least_score,
    score,
    sights,
)
from unmask.strategy import HiddenUnit
from unmask.testing.learned import make_finality_model
from unmask.types import StepTrace

END = 1


def ints(*values: int) -> np.typing.NDArray[np.int64]:
    """Return an array of ids or counts."""
    return np.array(values, dtype=np.int64)


SIGHT = Sight(
    log_odds=np.array([3.0, 1.234, -2.0, 30.0, 5.0]),
    draft=ints(7, 8, 9, END, END),
    open=np.array([False, True, True, True, True]),
    horizon=4,
    age=ints(0, 2, 0, 40, 0),
    step=3,
    end=END,
)


def test_features_of_each_candidate() -> None:
    """Worked out by hand: fixed neighbours and what is behind the horizon count as sure as can be."""
    found = dict(zip(FEATURES, features(SIGHT).T.tolist(), strict=True))
    mean = (1.23 - 2 + 10) / 3

    assert found == {
        "log_odds": [1.23, -2.0, 10.0],
        "neighbour_log_odds": [-2.0, 1.23, -2.0],
        "mean_log_odds": pytest.approx([mean] * 3),
        "age": pytest.approx([math.log(3), 0.0, math.log(17)]),
        "first_step": [0.0] * 3,
        "left_fixed": [1.0, 0.0, 0.0],
        "right_fixed": [0.0, 0.0, 1.0],
        "open_share": [0.75] * 3,
        "place": [0.0, 0.5, 1.0],
        "is_end": [0.0, 0.0, 1.0],
    }


def test_no_candidates_have_no_features() -> None:
    """Nothing is divided by nothing."""
    assert features(replace(SIGHT, open=np.zeros(5, dtype=np.bool_))).shape == (0, len(FEATURES))


def test_scores_by_hand() -> None:
    """A logistic score is a sum; two opposed hidden units make the same sum where both are left of their bends."""
    found = features(SIGHT)
    plain = make_finality_model()
    expected = [-0.5 + 1.23 - 0.4 + 0.8 * math.log(3) + 0.3, -0.5 - 2.0 + 0.246, -0.5 + 10 - 0.4 + 0.8 * math.log(17)]
    layered = score(make_finality_model(hidden=True), found)

    assert score(plain, found).tolist() == pytest.approx(expected, abs=6e-4)
    assert layered.tolist() == pytest.approx([expected[0], expected[1] - 0.1, expected[2]], abs=6e-4)
    moved = replace(plain, centre=(1.0,) * len(FEATURES), scale=(2.0,) * len(FEATURES))
    assert score(moved, found).tolist() == pytest.approx(
        [(value + 0.5 - 2.3) / 2 - 0.5 for value in expected], abs=6e-4
    )


def test_a_score_does_not_depend_on_other_positions() -> None:
    """One row gives bit for bit what it gives among others."""
    found = np.random.default_rng(0).normal(size=(33, len(FEATURES)))
    for model in (make_finality_model(), make_finality_model(hidden=True)):
        assert score(model, found).tolist() == [float(score(model, found[row : row + 1])[0]) for row in range(33)]


@pytest.mark.parametrize(("threshold", "expected"), [(0.0, -math.inf), (1.0, math.inf), (0.75, math.log(3))])
def test_thresholds_as_log_odds(threshold: float, expected: float) -> None:
    """0 lets everything through and 1 nothing."""
    assert least_score(threshold) == pytest.approx(expected)


def test_drafts_are_closed_and_tokens_grow_old() -> None:
    """Behind the first end token are end tokens; an age counts steps since the last change."""
    first, second = closed(ints(5, END, 7), END), closed(ints(5, 6, 7), END)
    age = ages(first, None, None)

    assert (first.tolist(), second.tolist()) == ([5, END, END], [5, 6, 7])
    assert ages(second, first, age).tolist() == [1, 0, 0]
    assert ages(second, second, ages(second, first, age)).tolist() == [2, 1, 1]


def test_a_trace_is_seen_as_serving_sees_it() -> None:
    """What a step sees as fixed is what the step before has left fixed."""
    steps = [
        StepTrace(
            canvas=0,
            step=step,
            max_steps=4,
            draft=draft,
            fixed=fixed,
            confidence=(0.75, 1.0, 0.5),
            entropy=(0.0,) * 3,
        )
        for step, (draft, fixed) in enumerate([((5, 6, 7), (True, False, False)), ((5, END, END), (True, True, False))])
    ]
    first, second = sights(steps, END)

    assert (first.open.tolist(), second.open.tolist()) == ([True] * 3, [False, True, True])
    assert (first.horizon, second.horizon) == (3, 2)
    assert second.age.tolist() == [1, 0, 0]
    assert features(first)[:, 0].tolist() == [1.1, 10.0, 0.0]
    assert list(sights([], END)) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"weights": (1.0,)},
        {"centre": (0.0,)},
        {"scale": (0.0,) * len(FEATURES)},
        {"bias": math.nan},
        {"threshold": 1.5},
        {"hidden": (HiddenUnit(weights=(1.0,), bias=0.0),), "weights": (1.0,)},
    ],
)
def test_models_of_other_features_are_found_out(changes: dict[str, object]) -> None:
    """A score that does not fit says so before it is used."""
    assert finality_fault(make_finality_model()) is None
    assert finality_fault(make_finality_model(hidden=True)) is None
    assert finality_fault(replace(make_finality_model(), **changes)) is not None  # type: ignore[arg-type]
