"""Behaviour of `unmask.gate.compare`."""

import pytest

from unmask.gate.compare import compare_runs
from unmask.gate.decide_errors import UndecidableError
from unmask.gate.gate_file import Bound, Statistic
from unmask.gate.score import Metric
from unmask.gate.verdict import Verdict
from unmask.testing.gates import make_clusters, make_gate, make_rates, make_row, make_scored_run

OLD, NEW = "1" * 64, "2" * 64
GATE = make_gate(make_row(threshold=0.6))


def test_a_change_of_scoring_is_measurement() -> None:
    """The judge took a tone for an error; the answers are the same."""
    old = make_scored_run(make_rates(100, 100), OLD, run="a")
    rescored = make_scored_run(make_rates(200, 0), NEW, run="a")
    new = make_scored_run(make_rates(200, 0), NEW, run="b")
    (change,) = compare_runs(old, rescored, new, GATE)

    assert change.measurement is not None
    assert change.quality is not None
    assert change.measurement.estimate == 0.5
    assert change.measurement.low > 0.3
    assert change.quality.estimate == 0.0
    assert change.quality.low < 0 < change.quality.high
    assert change.verdicts == (Verdict.FAIL, Verdict.PASS, Verdict.PASS)


def test_a_change_of_answers_is_quality() -> None:
    """Under one scoring; the two parts add up to what is seen."""
    old = make_scored_run(make_rates(150, 50), OLD, run="a")
    rescored = make_scored_run(make_rates(160, 40), NEW, run="a")
    new = make_scored_run(make_rates(80, 120), NEW, run="b")
    (change,) = compare_runs(old, rescored, new, GATE)

    assert change.measurement is not None
    assert change.quality is not None
    assert change.old is not None
    assert change.new is not None
    assert change.quality.high < 0
    assert change.measurement.estimate + change.quality.estimate == pytest.approx(
        change.new.estimate - change.old.estimate
    )


def test_a_changed_threshold_moves_verdicts_and_no_figure() -> None:
    """Each verdict is by the row that was in force."""
    run = make_scored_run(make_rates(180, 20), OLD, run="a")
    strict = make_gate(make_row(threshold=0.97))
    (change,) = compare_runs(run, run, run, GATE, strict)

    assert change.verdicts == (Verdict.FAIL, Verdict.PASS, Verdict.PASS)
    assert change.measurement is not None
    assert change.measurement.estimate == 0.0
    (renamed,) = compare_runs(run, run, run, GATE, make_gate(make_row(name="other")))
    assert renamed.verdicts[0] is None


def test_percentiles_differ_by_intervals_that_hold_together() -> None:
    """Seconds are not scored anew, so that all of their change is of the answers."""
    row = make_row(metric=Metric.SECONDS, statistic=Statistic.P50, bound=Bound.AT_MOST, threshold=1.0)
    slow = make_scored_run(make_clusters([[1.0 + n / 100] for n in range(100)], metric=Metric.SECONDS), OLD, run="a")
    quick = make_scored_run(make_clusters([[0.1 + n / 1000] for n in range(100)], metric=Metric.SECONDS), OLD, run="b")
    (change,) = compare_runs(slow, slow, quick, make_gate(row))

    assert change.quality is not None
    assert change.measurement is not None
    assert change.quality.low < change.quality.estimate < change.quality.high < 0
    assert change.measurement.width == 0


def test_what_cannot_be_split_is_refused() -> None:
    """Other scoring on either side, or rescored answers of another run."""
    old = make_scored_run(make_rates(10, 0), OLD, run="a")
    new = make_scored_run(make_rates(10, 0), NEW, run="b")

    with pytest.raises(UndecidableError, match="--rescored"):
        compare_runs(old, old, new, GATE)
    with pytest.raises(UndecidableError, match="run b, allowed: those of a"):
        compare_runs(old, new, new, GATE)
