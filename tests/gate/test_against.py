"""Behaviour of `unmask.gate.against` and `decide` with two systems."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from unmask.gate.against import compare_row
from unmask.gate.decide import check_decidable, decide
from unmask.gate.decide_errors import UndecidableError
from unmask.gate.gate_file import Bound, Row, Statistic
from unmask.gate.response import SystemLabel
from unmask.gate.score import Metric, Scored
from unmask.gate.verdict import Look, Paired, Verdict
from unmask.testing.gates import make_clusters, make_gate, make_rates, make_row, make_scored, make_scored_run

NOW = datetime(2026, 12, 1, tzinfo=UTC)
Values = Sequence[Sequence[float | None]]
HALLUCINATION = make_row(metric=Metric.HALLUCINATION, bound=Bound.AT_MOST, threshold=0.05, margin=0.05)


def both(model: Values, other: Values, **changes: object) -> tuple[Scored, ...]:
    """Return answers of both systems to the same scenarios."""
    return make_clusters(model, **changes) + make_clusters(other, system=SystemLabel.AGAINST, **changes)


def compared(row: Row, scored: tuple[Scored, ...]) -> Paired:
    """Compare all seeds that there are."""
    found = compare_row(row, scored, sorted({item.key.seed for item in scored}), 0.95)
    assert found is not None
    return found


def test_difference_is_paired_by_cluster() -> None:
    """What both get wrong does not widen it."""
    hard: Values = [[0.0]] * 100 + [[1.0]] * 100
    found = compared(make_row(margin=0.1), both(hard, hard))

    assert found.difference is not None
    assert found.difference.estimate == 0.0
    assert 0 < found.difference.high == pytest.approx(-found.difference.low)
    assert found.difference.high < 0.06
    assert found.verdict is Verdict.PASS


def test_no_difference_seen_is_no_equivalence() -> None:
    """With few clusters the margin is not shown to be kept."""
    found = compared(make_row(margin=0.02), both([[1.0]] * 30, [[1.0]] * 30))

    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.clusters_p == 1.0


def test_worse_by_more_than_the_margin_fails() -> None:
    """Where the whole interval lies beyond it."""
    worse: Values = [[0.0]] * 120 + [[1.0]] * 80
    found = compared(make_row(margin=0.05), both(worse, [[1.0]] * 200))

    assert found.verdict is Verdict.FAIL
    assert found.clusters == (0, 120)
    assert found.clusters_p < 1e-6


def test_less_is_better_turns_the_margin_round() -> None:
    """More hallucinations than the other is worse, fewer is not."""
    many: Values = [[1.0]] * 60 + [[0.0]] * 140
    none: Values = [[0.0]] * 200
    worse = compared(HALLUCINATION, both(many, none, metric=Metric.HALLUCINATION))
    better = compared(HALLUCINATION, both(none, many, metric=Metric.HALLUCINATION))

    assert (worse.verdict, better.verdict) == (Verdict.FAIL, Verdict.PASS)
    assert (worse.clusters, better.clusters) == ((0, 60), (60, 0))


def test_mcnemar_counts_clusters_and_scenarios() -> None:
    """A cluster passes where all its scenarios do; both counts are told."""
    model = tuple(make_scored(f"c{n // 2}-{n}", float(n % 2), cluster=f"c{n // 2}") for n in range(12))
    other = tuple(
        make_scored(f"c{n // 2}-{n}", 1.0, cluster=f"c{n // 2}", system=SystemLabel.AGAINST) for n in range(12)
    )
    found = compared(make_row(), model + other)

    assert (found.clusters, found.scenarios) == ((0, 6), (0, 6))
    assert found.scenarios_p == found.clusters_p < 0.05
    assert found.verdict is None


def test_an_unscored_answer_is_at_its_worst_for_each_end() -> None:
    """So that faults of one system's server do not make it the better one."""
    whole = compared(make_row(margin=0.1), both([[1.0]] * 100, [[1.0]] * 100))
    holes = compared(make_row(margin=0.1), both([[1.0]] * 90 + [[None]] * 10, [[1.0]] * 100))

    assert whole.difference is not None
    assert holes.difference is not None
    assert holes.difference.low < whole.difference.low - 0.05
    assert holes.difference.estimate == 0.0


def test_percentiles_are_not_paired() -> None:
    """They are shown side by side."""
    row = make_row(metric=Metric.SECONDS, statistic=Statistic.P50, bound=Bound.AT_MOST, threshold=1.0)
    scored = both([[0.2]] * 40, [[0.9]] * 40, metric=Metric.SECONDS)
    report = decide(make_scored_run(scored), make_gate(row), Look(number=0), NOW)

    assert report.rows[0].paired is None
    assert report.rows[0].against is not None
    assert report.rows[0].against.estimate == 0.9


def test_a_margin_decides_with_the_threshold() -> None:
    """Both have to hold; without another system the threshold alone does."""
    gate = make_gate(make_row(threshold=0.7, margin=0.02))
    worse = both([[1.0]] * 180 + [[0.0]] * 20, [[1.0]] * 200)
    lone = tuple(item for item in worse if item.key.system is SystemLabel.MODEL)
    joint = decide(make_scored_run(worse), gate, Look(number=0), NOW)
    alone = decide(make_scored_run(lone), gate, Look(number=0), NOW)

    assert (joint.verdict, alone.verdict) == (Verdict.FAIL, Verdict.PASS)
    assert "margin of 0.02" in joint.rows[0].why
    assert alone.rows[0].paired is None


def test_a_gate_is_as_good_as_its_worst_row() -> None:
    """FAIL outweighs INCONCLUSIVE, which outweighs PASS; what can never pass is a warning."""
    low, high, awful = (make_row(name=name, threshold=t) for name, t in (("a", 0.5), ("b", 0.99), ("c", 0.7)))
    run = make_scored_run(make_rates(64, 0))

    assert decide(run, make_gate(low), Look(number=0), NOW).verdict is Verdict.PASS
    mixed = decide(run, make_gate(low, high), Look(number=0), NOW)
    assert mixed.verdict is Verdict.INCONCLUSIVE
    assert [warning.split()[0] for warning in mixed.warnings] == ["b"]
    bad = make_scored_run(make_rates(20, 44))
    assert decide(bad, make_gate(low, high, awful), Look(number=0), NOW).verdict is Verdict.FAIL


@pytest.mark.parametrize(
    ("scored", "says"),
    [
        ((), "no scored answer"),
        (make_clusters([[None]] * 5), "no answer of run run-1 has a mark"),
        (tuple(make_scored(f"s{n}", None, marks=()) for n in range(5)), "fault of the infrastructure"),
        (make_clusters([[1.0]] * 5, system=SystemLabel.AGAINST), "no answer of run run-1 has a mark"),
    ],
)
def test_nothing_is_decided_on_nothing(scored: tuple[Scored, ...], says: str) -> None:
    """An empty suite, or a run in which nothing was answered, is no verdict."""
    with pytest.raises(UndecidableError, match=says):
        check_decidable(make_scored_run(scored))


def test_scores_of_another_run_are_refused() -> None:
    """As of a seed that was never asked."""
    with pytest.raises(UndecidableError, match="seed 1"):
        check_decidable(make_scored_run(make_clusters([[1.0, 1.0]] * 3), seeds=(0,)))
