"""Aligned batches: filled once, of one bucket, and each row waits for the slowest."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sched.test_batcher import SETTINGS, Ticking, denoising, prompt_of
from unmask.sequence import Submission
from unmask.service import Batching
from unmask.testing.submissions import make_submission
from unmask.types import Bucket, Outcome

PLAIN = replace(SETTINGS, batching=Batching.ALIGNED, max_rows=2)
UNFUSED = replace(PLAIN, chunked_prefill=False, fused_prefill=False, fused_commit=False)
STEPS = {Bucket.S: 1, Bucket.M: 2, Bucket.L: 4}


def of(bucket: Bucket | None) -> Submission:
    """Return a request of a bucket."""
    return make_submission(max_steps=3 if bucket is None else STEPS[bucket], bucket=bucket)


def batches(ticking: Ticking) -> list[list[int]]:
    """Tick to the end; return the sequences of each batch."""
    found: list[list[int]] = []
    while not ticking.batcher.is_idle:
        ticking.tick()
        running = sorted(ticking.batcher.running) or sorted(one.id for one in ticking.ended[-2:])
        ended = {number for batch in found for number in batch}
        fresh = [number for number in running if number not in ended]
        if fresh:
            found.append(fresh)
    return found


def test_no_canvas_starts_before_all_have_finished_the_one_before() -> None:
    """A quick row waits at the end of its canvas for the slowest."""
    ticking = Ticking(UNFUSED)
    ticking.add(make_submission(max_tokens=16, max_steps=1))
    ticking.add(make_submission(max_tokens=16, max_steps=3))
    steps = []
    while not ticking.batcher.is_idle:
        plan = ticking.tick()
        if denoising(plan):
            steps.append(denoising(plan))

    assert steps == [[1, 2], [2], [2], [1, 2], [2], [2]]


def test_no_request_joins_before_all_have_ended() -> None:
    """A batch is filled once."""
    ticking = Ticking(UNFUSED)
    for steps in (1, 4, 1):
        ticking.add(make_submission(max_steps=steps))
    seen = []
    while not ticking.batcher.is_idle:
        seen.append({row.sequence for row in ticking.tick().rows})

    assert [group for group in seen if 3 in group] == [{3}, {3}]
    assert seen.index({3}) > max(place for place, group in enumerate(seen) if 2 in group)


def test_prompts_catch_up_first() -> None:
    """A canvas that shared the row of its prompt's end waits until every prompt of the batch is appended."""
    ticking = Ticking(replace(UNFUSED, chunked_prefill=True, fused_prefill=True))
    ticking.add(make_submission(prompt_of(3), max_steps=2))
    ticking.add(make_submission(prompt_of(40), max_steps=2))

    assert [denoising(ticking.tick()) for _ in range(5)] == [[1], [], [], [2], [1, 2]]


def test_everything_ends_and_returns_its_pages() -> None:
    """An aligned batch ends like any other."""
    ticking = Ticking(PLAIN)
    for steps in (2, 3, 1, 4, 2):
        ticking.add(make_submission(max_tokens=20, max_steps=steps))
    ticking.finish()

    assert len(ticking.ended) == 5
    assert ticking.batcher.pool.used == 0


def test_a_batch_is_of_one_bucket() -> None:
    """Requests of other buckets wait for a batch of their own while they have slack."""
    ticking = Ticking(replace(PLAIN, fill_wait_s=100))
    for bucket in (Bucket.S, Bucket.L, Bucket.S, Bucket.L):
        ticking.add(of(bucket))

    assert batches(ticking) == [[1, 3], [2, 4]]


def test_a_bucket_that_fills_the_batch_goes_before_one_that_does_not() -> None:
    """The lone request is passed over, as it has slack; with nobody else left it runs at once, alone."""
    ticking = Ticking(replace(PLAIN, fill_wait_s=100))
    for bucket in (Bucket.L, Bucket.S, Bucket.S):
        ticking.add(of(bucket))

    assert batches(ticking) == [[2, 3], [1]]


def test_without_slack_a_bucket_merges_upward() -> None:
    """A request whose slack is spent leads the next batch, which larger buckets fill."""
    ticking = Ticking(replace(PLAIN, fill_wait_s=0.5))
    ticking.add(of(Bucket.M))
    ticking.add(of(Bucket.L))
    ticking.add(of(Bucket.S))
    ticking.clock.advance(1.0)

    assert batches(ticking) == [[1, 2], [3]]


def test_nobody_merges_downward() -> None:
    """The largest bucket runs alone rather than with rows that would wait for it all along."""
    ticking = Ticking(replace(PLAIN, fill_wait_s=0.5))
    ticking.add(of(Bucket.L))
    ticking.add(of(Bucket.S))
    ticking.clock.advance(1.0)

    assert batches(ticking) == [[1], [2]]


@pytest.mark.parametrize("fill_wait_s", [0.0, 5.0, 20.0])
def test_the_wait_of_a_cold_bucket_is_bounded(fill_wait_s: float) -> None:
    """However many of other buckets arrive, one request of its own runs once its slack and a batch are over."""
    ticking = Ticking(replace(PLAIN, fill_wait_s=fill_wait_s))
    for _ in range(2):
        ticking.add(of(Bucket.S))
    cold = ticking.add(of(Bucket.L))
    while cold.started is None:
        ticking.add(of(Bucket.S))
        ticking.add(of(Bucket.S))
        ticking.tick()

    # A batch of the others takes one tick, and those who wait longer are not many.
    assert cold.started <= fill_wait_s + 2


@given(st.lists(st.sampled_from([None, *STEPS]), min_size=1, max_size=12), st.sampled_from((0.0, 2.0, 100.0)))
def test_all_end_whatever_the_buckets(buckets: list[Bucket | None], fill_wait_s: float) -> None:
    """Nothing is left waiting, and no batch holds more than there are rows."""
    ticking = Ticking(replace(PLAIN, fill_wait_s=fill_wait_s))
    for bucket in buckets:
        ticking.add(of(bucket))
    while not ticking.batcher.is_idle:
        ticking.tick()
        assert len(ticking.batcher.running) <= PLAIN.max_rows

    assert [one.outcome for one in ticking.ended] == [Outcome.COMPLETED] * len(buckets)
