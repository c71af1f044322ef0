"""The benches of queues and batches run, on a model that is soon done."""

from dataclasses import replace

import pytest

from tests.bench.small import TOKENIZER, small_model
from unmask.bench import batching_bench, isolation_bench
from unmask.bench.bench import Bench
from unmask.bench.bucketed import STEPS, bucketed
from unmask.bench.isolation_bench import Sizes, run_isolation_bench
from unmask.clock import SystemClock
from unmask.testing.manual_clock import ManualClock


class SteppingClock(ManualClock):
    """A clock that moves a millisecond whenever it is looked at, so that a run takes the same time everywhere."""

    def now(self) -> float:
        """Return the time, which passes."""
        self.advance(0.001)
        return super().now()


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
    monkeypatch.setattr(isolation_bench, "QUICK", Sizes(rounds=1, seconds=0.5, requests=12))
    clock = SteppingClock()
    bench = replace(BENCH, clock=clock)
    report = run_isolation_bench(bench, seed=1, quick=True, progress=lambda _stage, _share: None, sleep=clock.advance)
    figures = {figure.name: figure.value for figure in report.figures}

    assert {entry.name for entry in report.must_reach} >= {"interactive_p99_flood_vs_alone", "fcfs_p99_vs_ours"}
    assert {record.arm for record in report.records} == {"alone", "ours", "fcfs", "strict"}
    assert all(not entry.holds for entry in report.must_reach if entry.bound is None)
    assert figures["ours.latency_p99"] < figures["fcfs.latency_p99"]
    assert figures["interactive_unanswered"] == 0
    assert figures["flood_share_vs_minimum"] > 0.8
    # In half a second the flood, which is there first, keeps some of its lead.
    assert figures["tenants_share_alike"] > 0.5
