"""Behaviour of `unmask.gate.rows` and `cells`: the verdict of one row."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.gate.cells import cells_of, cluster_means, one_a_scenario
from unmask.gate.gate_file import Bound, Row, Statistic
from unmask.gate.response import SystemLabel
from unmask.gate.rows import decide_row, design_effect_interval, mean_of, percentile_of
from unmask.gate.scenario import ScenarioKind
from unmask.gate.score import Metric, Scored
from unmask.gate.verdict import RowResult, Verdict
from unmask.stats import Interval, percentile_interval, wilson
from unmask.testing.gates import make_clusters, make_rates, make_row, make_scored

CONFIDENCE = 0.95
Clusters = list[list[float | None]]
ORDER = [Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.PASS]
HALLUCINATION = make_row(metric=Metric.HALLUCINATION, bound=Bound.AT_MOST, threshold=0.05)
P95 = make_row(metric=Metric.SECONDS, statistic=Statistic.P95, bound=Bound.AT_MOST, threshold=2.0)

marks = st.sampled_from([0.0, 1.0, 1.0, 1.0, 0.5, None])
clusters = st.lists(st.lists(marks, min_size=2, max_size=2), min_size=2, max_size=60)
thresholds = st.sampled_from([0.3, 0.5, 0.7, 0.9])
statistics = st.sampled_from([Statistic.RATE, Statistic.MEAN])


def decided(row: Row, scored: tuple[Scored, ...], confidence: float = CONFIDENCE) -> RowResult:
    """Decide a row on all seeds that there are."""
    return decide_row(row, scored, sorted({item.key.seed for item in scored}), confidence)


@pytest.mark.parametrize(
    ("passes", "fails", "verdict"),
    [(73, 0, Verdict.PASS), (72, 0, Verdict.INCONCLUSIVE), (109, 1, Verdict.PASS), (64, 0, Verdict.INCONCLUSIVE),
     (60, 13, Verdict.FAIL), (180, 12, Verdict.INCONCLUSIVE)],
)  # fmt: skip
def test_rate_of_whole_clusters_is_decided_by_wilson(passes: int, fails: int, verdict: Verdict) -> None:
    """Pass where all of the interval clears, fail where all of it misses."""
    result = decided(make_row(), make_rates(passes, fails))
    expected = wilson(passes, passes + fails)

    assert result.verdict is verdict
    assert isinstance(expected, Interval)
    assert result.interval == pytest.approx(expected) if result.interval is None else True
    assert result.interval is not None
    assert result.interval.low == pytest.approx(expected.low)
    assert result.method == "Wilson on clusters"


def test_seeds_are_no_items() -> None:
    """64 perfect scenarios asked three times are 64, and not 192, which would pass."""
    result = decided(make_row(), make_clusters([[1.0, 1.0, 1.0]] * 64))

    assert result.verdict is Verdict.INCONCLUSIVE
    assert (result.counts.units, result.counts.answers) == (64, 192)
    assert not result.can_pass


def test_scenarios_of_one_cluster_are_one() -> None:
    """Two hundred rewordings of one question say as much as one."""
    same = tuple(make_scored(f"s{n}", 1.0, cluster="only") for n in range(200))
    result = decided(make_row(), same)

    assert (result.verdict, result.interval) == (Verdict.INCONCLUSIVE, None)
    assert "1 cluster, " in result.why


def test_inconclusive_says_what_a_fresh_run_needs() -> None:
    """By the rate that was seen and a power of 80 %; to pass or, where that is likelier, to fail."""
    near = decided(make_row(), make_rates(189, 3))
    open_ = decided(make_row(), make_rates(63, 1))
    low = decided(make_row(), make_rates(60, 4))

    assert (near.verdict, near.needed) == (Verdict.PASS, None)
    assert (open_.verdict, open_.needed) == (Verdict.INCONCLUSIVE, 257)
    assert low.needed is not None
    assert low.needed > 1000


def test_identical_answers_have_a_width() -> None:
    """All alike tells nothing of those not seen, for rates and for means."""
    for row in (make_row(), make_row(statistic=Statistic.MEAN)):
        for value in (0.0, 0.8, 1.0):
            interval = decided(row, make_clusters([[value]] * 80)).interval
            assert interval is not None
            assert interval.width > 0.01


def test_mean_is_decided_by_betting() -> None:
    """Where clusters are not all or nothing."""
    row = make_row(statistic=Statistic.MEAN, threshold=0.9)
    result = decided(row, make_clusters([[0.97, 0.99]] * 100))

    assert (result.verdict, result.method) == (Verdict.PASS, "betting on clusters")


def test_rate_counts_answers_without_fault() -> None:
    """One right fact of two is no right answer, and half a hallucination is one."""
    assert decided(make_row(), make_clusters([[0.5]] * 80)).verdict is Verdict.FAIL
    assert decided(HALLUCINATION, make_clusters([[0.5]] * 80, metric=Metric.HALLUCINATION)).verdict is Verdict.FAIL
    assert decided(HALLUCINATION, make_clusters([[0.0]] * 73, metric=Metric.HALLUCINATION)).verdict is Verdict.PASS


def test_unscored_answers_count_both_ways() -> None:
    """As failed for the lower end, as passed for the upper one; the estimate is of what was scored."""
    row = make_row(most_unscored=0.5)
    result = decided(row, make_clusters([[1.0]] * 90 + [[None]] * 10))
    interval = result.interval

    assert interval is not None
    assert interval.estimate == 1.0
    assert interval.low == pytest.approx(wilson(90, 100).low)  # type: ignore[union-attr]
    assert interval.high == 1.0
    assert result.counts.unscored == 10


def test_too_many_unscored_decide_nothing() -> None:
    """However good the rest is, or bad."""
    for value in (1.0, 0.0):
        result = decided(make_row(most_unscored=0.02), make_clusters([[value]] * 970 + [[None]] * 30))
        assert result.verdict is Verdict.INCONCLUSIVE
        assert "30 of 1000" in result.why


def test_answers_that_never_came_are_unscored() -> None:
    """A seed of a scenario, or all; but not of a kind that is known to be without the metric."""
    scored = (
        make_scored("a", 1.0, seed=0),
        make_scored("b", 1.0, seed=0),
        make_scored("b", 1.0, seed=1),
        make_scored("c", None, seed=0, marks=()),
        make_scored("d", None, seed=0, marks=(), kind=ScenarioKind.TRAP),
        make_scored("e", 1.0, seed=0, kind=ScenarioKind.TRAP, metric=Metric.PERSONA),
        make_scored("f", None, seed=0, marks=(), kind=ScenarioKind.DEEP_LORE),
    )
    cells = cells_of(make_row(), scored, SystemLabel.MODEL, (0, 1))

    assert [(cell.scenario, cell.seed, cell.value) for cell in cells] == [
        ("a", 0, 1.0), ("a", 1, None), ("b", 0, 1.0), ("b", 1, 1.0), ("c", 0, None), ("c", 1, None),
        ("f", 0, None), ("f", 1, None),
    ]  # fmt: skip


def test_kinds_choose_scenarios() -> None:
    """A row may be about some kinds only."""
    scored = (make_scored("a", 1.0), make_scored("b", 0.0, kind=ScenarioKind.TRAP))
    row = make_row(kinds=(ScenarioKind.TRAP,))

    assert cluster_means(cells_of(row, scored, SystemLabel.MODEL, (0,)), None) == {"b": 0.0}


@given(values=clusters, threshold=thresholds, statistic=statistics, at=st.integers(0, 10_000))
def test_putting_a_mark_right_never_costs_a_verdict(
    values: Clusters, threshold: float, statistic: Statistic, at: int
) -> None:
    """Whether clusters thereby become all or nothing, or cease to be."""
    row = make_row(threshold=threshold, statistic=statistic, most_unscored=0.99)
    places = [(c, s) for c, marks in enumerate(values) for s, mark in enumerate(marks) if mark is not None]
    if not places:
        return
    cluster, seed = places[at % len(places)]
    better = [list(marks) for marks in values]
    better[cluster][seed] = 1.0

    before, after = (decided(row, make_clusters(each)).verdict for each in (values, better))
    assert ORDER.index(after) >= ORDER.index(before)


@pytest.mark.parametrize(("passes", "fails"), [(190, 10), (60, 4), (40, 40), (150, 1)])
def test_a_cluster_that_is_no_more_all_or_nothing_lowers_no_end(passes: int, fails: int) -> None:
    """One answer of a failed cluster is put right, so that betting joins in; and one of a passed cluster is lost."""
    right: list[float | None] = [1.0, 1.0]
    wrong: list[float | None] = [0.0, 0.0]
    whole = [right] * passes + [wrong] * fails
    better: Clusters = [*whole[:-1], [1.0, 0.0]]
    worse: Clusters = [[1.0, 0.0], *whole[1:]]
    ends: tuple[Clusters, ...] = (worse, whole, better)
    low, middle, high = (decided(make_row(), make_clusters(each)).interval for each in ends)

    assert low is not None
    assert middle is not None
    assert high is not None
    assert low.low <= middle.low <= high.low
    assert low.high <= middle.high <= high.high


@given(values=clusters, threshold=thresholds, statistic=statistics, at=st.integers(0, 10_000))
def test_losing_a_mark_never_helps(values: Clusters, threshold: float, statistic: Statistic, at: int) -> None:
    """What cannot be told never turns anything into a PASS."""
    row = make_row(threshold=threshold, statistic=statistic, most_unscored=0.99)
    lost = [list(marks) for marks in values]
    lost[at % len(lost)][at % 2] = None

    if decided(row, make_clusters(lost)).verdict is Verdict.PASS:
        assert decided(row, make_clusters(values)).verdict is Verdict.PASS


@given(values=clusters, threshold=thresholds, statistic=statistics, less=st.booleans())
def test_a_pass_clears_by_its_estimate(values: Clusters, threshold: float, statistic: Statistic, less: bool) -> None:
    """And a fail misses by it, whichever way is better."""
    change = {"metric": Metric.HALLUCINATION, "bound": Bound.AT_MOST} if less else {}
    row = make_row(threshold=threshold, statistic=statistic, most_unscored=0.99, **change)
    result = decided(row, make_clusters(values, metric=row.metric))
    if result.interval is None:
        assert result.verdict is Verdict.INCONCLUSIVE
        return
    assert 0 <= result.interval.low <= result.interval.estimate <= result.interval.high <= 1
    match result.verdict:
        case Verdict.PASS:
            assert row.clears(result.interval.estimate)
        case Verdict.FAIL:
            assert not row.clears(result.interval.estimate)


def test_intervals_by_design_effect_are_not_monotone() -> None:
    """So they are shown and not decided on: one failure turns the miss of 64 perfect scenarios into a pass."""
    perfect = make_clusters([[1.0] * 3] * 64)
    one_failure = make_clusters([[1.0] * 3] * 63 + [[1.0, 1.0, 0.0]])
    shown = [decided(make_row(), scored).design_effect for scored in (perfect, one_failure)]

    assert shown[0] is not None
    assert shown[1] is not None
    assert shown[0].low < 0.95 < shown[1].low
    assert [decided(make_row(), scored).verdict for scored in (perfect, one_failure)] == [Verdict.INCONCLUSIVE] * 2


def test_design_effect_of_like_answers_leaves_clusters() -> None:
    """Seeds that always agree add nothing; seeds that have nothing to do with one another count in full."""
    alike = design_effect_interval(
        cells_of(make_row(), make_clusters([[1.0] * 3] * 90 + [[0.0] * 3] * 10), SystemLabel.MODEL, (0, 1, 2)),
        CONFIDENCE,
    )
    expected = wilson(90, 100)

    assert alike is not None
    assert isinstance(expected, Interval)
    assert alike.low == pytest.approx(expected.low, abs=0.002)


def test_narrower_of_two_intervals_costs_no_coverage() -> None:
    """Where clusters are all, nothing or between: a true mean at the threshold passes in 2.5 % of runs at most."""
    rng = np.random.default_rng(3)
    runs, n, threshold = 4000, 120, 0.9

    @cache
    def passes(ones: int, halves: int) -> bool:
        values = np.array([1.0] * ones + [0.5] * halves + [0.0] * (n - ones - halves))
        interval = mean_of(values, values, values, CONFIDENCE)
        assert interval is not None
        return interval.low >= threshold

    for between in (0.0, 0.02, 0.1, 0.19):
        # So many clusters are at a half, and the rest is such that the mean is the threshold.
        ones = threshold - between / 2
        drawn = rng.multinomial(n, [ones, between, 1 - ones - between], size=runs)
        passed = sum(passes(int(row[0]), int(row[1])) for row in drawn)
        assert passed <= runs * 0.025 + 3 * math.sqrt(runs * 0.025)


def test_percentile_takes_one_answer_a_scenario() -> None:
    """By turns of another seed, so that no seed is all there is."""
    cells = cells_of(
        P95, make_clusters([[0.1, 1.1], [0.2, 1.2], [0.3, 1.3]], metric=Metric.SECONDS), SystemLabel.MODEL, (0, 1)
    )

    assert one_a_scenario(cells) == (0.1, 1.2, 0.3)


def test_percentile_is_bound_by_order_statistics() -> None:
    """As `percentile_interval` has it; answers that never came are slowest for the upper end."""
    values = [float(n) for n in range(1, 101)]
    expected = percentile_interval(values, 0.95)
    assert isinstance(expected, Interval)
    assert percentile_of(values, 0.95, CONFIDENCE) == expected

    missing = percentile_of([*values, None], 0.95, CONFIDENCE)
    assert missing is not None
    assert missing.low <= expected.low
    assert missing.high >= expected.high


def test_few_scenarios_have_no_upper_end_of_p95() -> None:
    """64 quick answers do not pass; 64 slow ones do fail."""
    quick = decided(P95, make_clusters([[0.5]] * 64, metric=Metric.SECONDS))
    slow = decided(P95, make_clusters([[5.0]] * 64, metric=Metric.SECONDS))
    enough = decided(P95, make_clusters([[0.5]] * 72, metric=Metric.SECONDS))

    assert quick.verdict is Verdict.INCONCLUSIVE
    assert quick.needed == 72
    assert quick.interval is not None
    assert math.isinf(quick.interval.high)
    assert (slow.verdict, enough.verdict) == (Verdict.FAIL, Verdict.PASS)


def test_a_row_that_no_scenario_is_about_is_inconclusive() -> None:
    """It can never pass, and is not passed over."""
    result = decided(replace(make_row(), kinds=(ScenarioKind.PERSONA,)), make_rates(80, 0))

    assert (result.verdict, result.counts.units, result.can_pass) == (Verdict.INCONCLUSIVE, 0, False)
