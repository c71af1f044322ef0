"""Behaviour of `unmask.control.difficulty`."""

import math
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.control.values import BUCKETS, make_entry, make_features, make_model, make_policy, stump
from unmask.control.difficulty import (
    Difficulty,
    Estimator,
    Reason,
    assign,
    bucket_of,
    steps_for,
)
from unmask.policy.policy import DEFAULT_TASK, BudgetMode
from unmask.types import Bucket

BY_DIGITS = make_model(stump("digits", 10, 1.0, 3.0))


def make_estimator() -> Estimator:
    """Return an estimator that knows sorting: more than ten digits need eight steps, others two."""
    return Estimator(model="tiny", model_digest="0123456789abcdef", digest="d", tasks={"sort": BY_DIGITS})


def difficulty(score: float, confidence: float = 1.0) -> Difficulty:
    """Return a difficulty of the first bin."""
    return Difficulty(score=score, bin=0, confidence=confidence)


def test_harder_requests_get_larger_buckets() -> None:
    """The score decides the bucket; score, bin and reason travel with it."""
    policy = make_policy(make_entry())
    easy, hard = (make_estimator().estimate(make_features(digits=digits), policy) for digits in (4, 20))

    assert (easy.bucket, easy.max_steps, easy.reason) == (Bucket.XS, 2, Reason.ESTIMATED)
    assert (hard.bucket, hard.max_steps) == (Bucket.M, 8)
    assert hard.difficulty == Difficulty(score=3.0, bin=2, confidence=1.0)


def test_shift_is_the_policys() -> None:
    """A shift of one doubles the steps."""
    estimate = make_estimator().estimate(make_features(digits=20), make_policy(make_entry(shift=1.0)))

    assert estimate.max_steps == 16


def test_unseen_task_type_gets_what_the_default_entry_says() -> None:
    """A task type that neither policy nor estimator knows is not estimated."""
    estimate = make_estimator().estimate(make_features("poem", digits=20), make_policy(make_entry()))

    assert (estimate.task, estimate.difficulty, estimate.reason) == ("poem", None, Reason.FIXED)
    assert (estimate.max_steps, estimate.bucket) == (16, Bucket.L)


def test_task_type_without_a_model_gets_its_ceiling() -> None:
    """A policy that budgets by difficulty, and an estimator that never saw the task type: the larger bucket."""
    estimate = make_estimator().estimate(make_features("latin"), make_policy(make_entry("latin", ceiling=16)))

    assert (estimate.max_steps, estimate.reason) == (16, Reason.NO_MODEL)


def test_known_task_type_outside_the_policy_gets_the_default_entrys_ceiling() -> None:
    """A model's scores mean nothing under an entry that it was not calibrated for."""
    estimate = assign(difficulty(0.0), make_entry(DEFAULT_TASK), BUCKETS, task="sort")

    assert (estimate.max_steps, estimate.reason) == (32, Reason.NO_MODEL)


def test_fixed_task_type_has_one_budget() -> None:
    """Difficulty is still told, and changes nothing."""
    policy = make_policy(make_entry(mode=BudgetMode.FIXED, default=4))
    estimate = make_estimator().estimate(make_features(digits=20), policy)

    assert (estimate.max_steps, estimate.reason) == (4, Reason.FIXED)
    assert estimate.difficulty is not None


@pytest.mark.parametrize(("outside", "reason"), [(0, Reason.ESTIMATED), (9, Reason.ESTIMATED), (11, Reason.UNSURE)])
def test_requests_unlike_those_trained_on_get_the_ceiling(outside: int, reason: Reason) -> None:
    """A feature a little outside its range is trusted, one far outside is not."""
    estimate = make_estimator().estimate(make_features(numbers=100 + outside), make_policy(make_entry()))

    assert estimate.reason is reason
    assert estimate.difficulty is not None
    assert estimate.difficulty.confidence == pytest.approx(1 - outside / 100)
    assert (estimate.max_steps == 32) == (reason is Reason.UNSURE)


def test_limit_on_the_answer_says_nothing_of_confidence() -> None:
    """Clients set `max_tokens` as they like."""
    assert BY_DIGITS.difficulty(make_features(max_tokens=10_000)).confidence == 1.0


def test_unsure_task_type_gets_the_ceiling() -> None:
    """A doubtful task type makes a doubtful estimate."""
    estimate = make_estimator().estimate(make_features(), make_policy(make_entry()), task_confidence=0.5)

    assert (estimate.max_steps, estimate.reason) == (32, Reason.UNSURE)


scores = st.floats(-20, 20) | st.floats(allow_nan=False)
limits = st.tuples(st.integers(1, 64), st.integers(1, 64)).map(lambda ends: (min(ends), max(ends)))


@given(scores, limits, scores.filter(math.isfinite), st.floats(0, 1))
def test_never_below_floor_nor_above_ceiling(
    score: float, ends: tuple[int, int], shift: float, confidence: float
) -> None:
    """Whatever the score, the budget lies within the task type's limits, and so does the bucket's name."""
    entry = make_entry(floor=ends[0], default=ends[0], ceiling=ends[1], shift=shift)
    estimate = assign(difficulty(score, confidence), entry, BUCKETS, task="sort")

    assert ends[0] <= estimate.max_steps <= ends[1]
    assert estimate.bucket == bucket_of(estimate.max_steps, BUCKETS)


@given(st.floats(-20, 20), limits, st.floats(-8, 8), st.floats(0, 8))
def test_larger_shift_never_gives_less(score: float, ends: tuple[int, int], shift: float, more: float) -> None:
    """Budgets rise with the shift."""
    entry = make_entry(floor=ends[0], ceiling=ends[1])

    assert steps_for(score + shift, entry, BUCKETS) <= steps_for(score + shift + more, entry, BUCKETS)


@pytest.mark.parametrize(
    ("score", "steps"), [(0.0, 2), (1.0, 2), (1.01, 4), (5.0, 32), (9.0, 32), (-math.inf, 2), (math.inf, 32)]
)
def test_smallest_bucket_that_holds_the_score(score: float, steps: int) -> None:
    """A score that is a bucket's own stays in it."""
    assert steps_for(score, make_entry(), BUCKETS) == steps


def test_bucket_of_more_than_the_largest() -> None:
    """Steps above every bucket are in the largest."""
    assert bucket_of(100, BUCKETS) is Bucket.XL
    assert bucket_of(3, BUCKETS) is Bucket.S


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
