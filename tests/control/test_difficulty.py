"""Behaviour of `unmask.control.difficulty`."""

import math
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.control.values import BUCKETS, make_entry, make_features, make_model, stump
from unmask.control.difficulty import Difficulty, Estimator, steps_for

BY_DIGITS = make_model(stump("digits", 10, 1.0, 3.0))


def make_estimator() -> Estimator:
    """Return an estimator that knows sorting: more than ten digits need eight steps, others two."""
    return Estimator(model="tiny", model_digest="0123456789abcdef", digest="d", tasks={"sort": BY_DIGITS})


def difficulty(score: float, confidence: float = 1.0) -> Difficulty:
    """Return a difficulty of the first bin."""
    return Difficulty(score=score, bin=0, confidence=confidence)


def test_harder_requests_get_larger_buckets() -> None:
    """The score decides the bucket, and says which bin it is in."""
    easy, hard = (make_estimator().difficulty(make_features(digits=digits)) for digits in (4, 20))
    assert easy is not None
    assert hard is not None

    assert steps_for(easy.score, make_entry(), BUCKETS) == 2
    assert steps_for(hard.score, make_entry(), BUCKETS) == 8
    assert hard == Difficulty(score=3.0, bin=2, confidence=1.0)


def test_shift_is_the_policys() -> None:
    """A shift of one doubles the steps."""
    assert steps_for(3.0, make_entry(shift=1.0), BUCKETS) == 16


def test_unknown_difficulty_gets_the_ceiling() -> None:
    """A task type that the estimator never saw has none, and may need anything."""
    assert make_estimator().difficulty(make_features("latin")) is None
    assert steps_for(None, make_entry("latin", ceiling=16), BUCKETS) == 16


@pytest.mark.parametrize(("outside", "is_sure"), [(0, True), (9, True), (11, False)])
def test_requests_unlike_those_trained_on_are_unsure(outside: int, is_sure: bool) -> None:
    """A feature a little outside its range is trusted, one far outside is not."""
    found = BY_DIGITS.difficulty(make_features(numbers=100 + outside))

    assert found.confidence == pytest.approx(1 - outside / 100)
    assert found.is_sure() == is_sure


def test_limit_on_the_answer_says_nothing_of_confidence() -> None:
    """Clients set `max_tokens` as they like."""
    assert BY_DIGITS.difficulty(make_features(max_tokens=10_000)).confidence == 1.0


def test_doubtful_task_type_makes_a_doubtful_estimate() -> None:
    """However like the trained ones the request is."""
    assert difficulty(1.0).is_sure()
    assert not difficulty(1.0).is_sure(task_confidence=0.5)


scores = st.floats(-20, 20) | st.floats(allow_nan=False)
limits = st.tuples(st.integers(1, 64), st.integers(1, 64)).map(lambda ends: (min(ends), max(ends)))


@given(scores | st.none(), limits, scores.filter(math.isfinite))
def test_never_below_floor_nor_above_ceiling(score: float | None, ends: tuple[int, int], shift: float) -> None:
    """Whatever the score, the budget lies within the task type's limits."""
    entry = make_entry(floor=ends[0], default=ends[0], ceiling=ends[1], shift=shift)

    assert ends[0] <= steps_for(score, entry, BUCKETS) <= ends[1]


@given(st.floats(-20, 20), limits, st.floats(-8, 8), st.floats(0, 8))
def test_larger_shift_never_gives_less(score: float, ends: tuple[int, int], shift: float, more: float) -> None:
    """Budgets rise with the shift."""
    little, much = (make_entry(floor=ends[0], ceiling=ends[1], shift=by) for by in (shift, shift + more))

    assert steps_for(score, little, BUCKETS) <= steps_for(score, much, BUCKETS)


@pytest.mark.parametrize(
    ("score", "steps"), [(0.0, 2), (1.0, 2), (1.01, 4), (5.0, 32), (9.0, 32), (-math.inf, 2), (math.inf, 32)]
)
def test_smallest_bucket_that_holds_the_score(score: float, steps: int) -> None:
    """A score that is a bucket's own stays in it."""
    assert steps_for(score, make_entry(), BUCKETS) == steps


def test_serving_needs_neither_scikit_learn_nor_torch() -> None:
    """Everything in `unmask.control` can be imported where neither is installed."""
    code = (
        "import sys\n"
        "sys.modules['sklearn'] = sys.modules['torch'] = None\n"
        "import importlib, pkgutil, unmask.control\n"
        "names = [module.name for module in pkgutil.iter_modules(unmask.control.__path__)]\n"
        "[importlib.import_module(f'unmask.control.{name}') for name in names]\n"
        "print(len(names))\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert ended.returncode == 0, ended.stderr
    assert int(ended.stdout) >= 6
