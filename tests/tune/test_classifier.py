"""Behaviour of `unmask.tune.classifier`."""

from importlib.resources import files

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.control.classify import Reliability
from unmask.policy.policy import DEFAULT_TASK
from unmask.stats import Interval
from unmask.tasks.registry import all_tasks
from unmask.tune.classifier import ExitCount, measure_classifier, misjudgement_under_errors
from unmask.tune.prompts import OUTSIDE, Population

CERTAIN = Reliability(recognised=10_000, right=10_000)
DOUBTFUL = Reliability(recognised=1000, right=900)


def test_generated_items_are_never_mistaken() -> None:
    """Every row is told apart, and its counts add up."""
    report = measure_classifier(items=20, seed=1)
    rows = {(row.population, row.truth): row for row in report.rows}

    assert len(rows) == 3 * len(all_tasks()) + len(OUTSIDE)
    assert all(row.n == 20 == row.right + row.open + row.wrong for row in report.rows)
    assert all(rows[Population.GENERATED, task].right == 20 for task in all_tasks())
    assert all(rows[Population.PARAPHRASED, task].wrong == 0 for task in all_tasks())


def test_errors_are_seen() -> None:
    """A recogniser that calls everything a sum is right about sums, and wrong about all else."""
    report = measure_classifier(items=10, seed=1, recogniser=lambda _: "arithmetic")
    wrong = {(row.population, row.truth) for row in report.rows if row.wrong}
    reliability = dict(report.reliability)

    assert (Population.GENERATED, "arithmetic") not in wrong
    assert len(wrong) == len(report.rows) - 3
    assert reliability["arithmetic"] == Reliability(recognised=10 * len(report.rows), right=30)
    assert reliability["sort"] == Reliability(recognised=0, right=0)
    assert isinstance(report.rows[0].error, Interval)


def test_a_recogniser_that_knows_nothing_makes_no_error() -> None:
    """What is left open is no mistake, and right for prompts of no task type."""
    report = measure_classifier(items=10, seed=1, recogniser=lambda _: None)

    assert {row.wrong for row in report.rows} == {0}
    assert {row.open for row in report.rows if row.truth != DEFAULT_TASK} == {10}
    assert {row.right for row in report.rows if row.truth == DEFAULT_TASK} == {10}


def test_seed_reproduces() -> None:
    """The same seed measures the same, and too few items are refused."""
    assert measure_classifier(items=10, seed=3) == measure_classifier(items=10, seed=3)
    with pytest.raises(ValueError, match="at least 10"):
        measure_classifier(items=9, seed=3)


def test_packaged_reliability_is_what_is_measured() -> None:
    """The file of the package follows from its seed and number of prompts, drawn again here in part."""
    stored = orjson.loads(files("unmask.control").joinpath("classifier.json").read_bytes())
    report = dict(measure_classifier(items=100, seed=stored["seed"]).reliability)

    for task, counts in stored["tasks"].items():
        shares = (counts["right"] / counts["recognised"], report[task].right / report[task].recognised)
        assert shares[1] == pytest.approx(shares[0], abs=0.05)


def test_misjudgement_counts_the_classifiers_errors() -> None:
    """Requests of other task types count as misjudged until their exits were measured."""
    own = ExitCount(said="sort", truth="sort", exits=10_000, misjudged=10)
    measured = ExitCount(said="sort", truth=DEFAULT_TASK, exits=10_000, misjudged=1000)

    assert misjudgement_under_errors(CERTAIN, "sort", [own]).upper < 0.003
    assert 0.1 < misjudgement_under_errors(DOUBTFUL, "sort", [own]).upper < 0.13
    assert 0.01 < misjudgement_under_errors(DOUBTFUL, "sort", [own, measured]).upper < 0.02


def test_misjudgement_without_data_is_certain() -> None:
    """No exits, or no prompt ever recognised: nothing is promised."""
    nothing = Reliability(recognised=0, right=0)
    own = ExitCount(said="sort", truth="sort", exits=10_000, misjudged=0)

    assert misjudgement_under_errors(CERTAIN, "sort", []).upper == 1.0
    assert misjudgement_under_errors(nothing, "sort", [own]).upper == 1.0


@given(st.integers(0, 200), st.integers(0, 200), st.integers(1, 200))
def test_misjudgement_is_no_less_than_its_parts(misjudged: int, right: int, n: int) -> None:
    """The bound is above what was seen of the task type's own exits alone."""
    misjudged, right = min(misjudged, n), min(right, n)
    own = ExitCount(said="sort", truth="sort", exits=n, misjudged=misjudged)
    upper = misjudgement_under_errors(Reliability(recognised=n, right=right), "sort", [own]).upper

    assert misjudged / n <= upper <= 1
