"""The benches of queues and batches run, on a model that is soon done."""

import pytest

from tests.bench.small import TOKENIZER, small_model
from unmask.bench import batching_bench, isolation_bench
from unmask.bench.bench import Bench
from unmask.bench.bucketed import STEPS, bucketed
from unmask.bench.isolation_bench import Sizes, run_isolation_bench
from unmask.clock import SystemClock

BENCH = Bench(model=small_model(), tokenizer=TOKENIZER, clock=SystemClock())


def test_requests_have_a_canvas_that_holds_their_answer() -> None:
    """One canvas each, any bucket up to a step a position, and the same for the same seed."""
    work = bucketed(BENCH, 5, 40)

    assert work == bucketed(BENCH, 5, 40)
    assert {submission.max_canvases for submission in work} == {1}
    for submission in work:
        assert submission.bucket is not None
        assert submission.budget.max_steps == STEPS[submission.bucket] <= submission.canvas_length
    assert len({submission.bucket for submission in work}) >= 4


@pytest.mark.slow
@pytest.mark.bench
def test_batching_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every arm answers the same requests; waiting rows are waste in lockstep alone."""
    monkeypatch.setattr(batching_bench, "QUICK_REQUESTS", 20)
    report = batching_bench.run_batching_bench(BENCH, seed=1, quick=True, progress=lambda _stage, _share: None)
    figures = {figure.name: figure for figure in report.figures}

    assert {entry.name for entry in report.must_reach} == {
        "throughput_vs_lockstep_mixed",
        "useful_share_step",
        "useful_share_aligned_vs_theory",
    }
    assert len(report.records) == 2 * 3 * 20
    assert figures["lockstep_mixed.moving_share"].value < 1
    assert figures["step.useful_share"].value > figures["lockstep_mixed.useful_share"].value
    assert 0.5 < figures["useful_share_aligned_vs_theory"].value <= 1.2


@pytest.mark.slow
@pytest.mark.bench
def test_isolation_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every arm serves the same interactive requests; too few for a p99 decide nothing."""
    monkeypatch.setattr(isolation_bench, "QUICK", Sizes(rounds=1, seconds=0.3, requests=12))
    report = run_isolation_bench(BENCH, seed=1, quick=True, progress=lambda _stage, _share: None)

    assert {entry.name for entry in report.must_reach} >= {"interactive_p99_flood_vs_alone", "fcfs_p99_vs_ours"}
    assert {record.arm for record in report.records} == {"alone", "ours", "fcfs", "strict"}
    assert all(not entry.holds for entry in report.must_reach if entry.bound is None)
