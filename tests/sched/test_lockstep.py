"""Lockstep, the static batch that others are compared with."""

from dataclasses import replace

from tests.sched.test_batcher import SETTINGS, Ticking, denoising, prompt_of
from unmask.testing.submissions import make_submission

LOCKSTEP = replace(SETTINGS, lockstep=True, chunked_prefill=False, fused_prefill=False, fused_commit=False, max_rows=2)


def test_no_canvas_starts_before_all_have_finished_the_one_before() -> None:
    """A quick row waits at the end of its canvas for the slowest, and is computed for nothing meanwhile."""
    ticking = Ticking(LOCKSTEP)
    ticking.add(make_submission(max_tokens=16, max_steps=1))
    ticking.add(make_submission(max_tokens=16, max_steps=3))
    steps, idle = [], []
    while not ticking.batcher.is_idle:
        plan = ticking.tick()
        if denoising(plan):
            steps.append(denoising(plan))
            idle.append([row.sequence for row in plan.idle])

    assert steps == [[1, 2], [2], [2], [1, 2], [2], [2]]
    assert idle == [[], [1], [1], [], [1], [1]]


def test_no_request_joins_before_all_have_ended() -> None:
    """A batch is filled once."""
    ticking = Ticking(LOCKSTEP)
    for steps in (1, 4, 1):
        ticking.add(make_submission(max_steps=steps))
    seen = []
    while not ticking.batcher.is_idle:
        seen.append({row.sequence for row in ticking.tick().rows})

    assert [group for group in seen if 3 in group] == [{3}, {3}]
    assert seen.index({3}) > max(place for place, group in enumerate(seen) if 2 in group)


def test_prompts_catch_up_first() -> None:
    """A canvas that shared the row of its prompt's end waits until every prompt of the batch is appended."""
    ticking = Ticking(replace(LOCKSTEP, chunked_prefill=True, fused_prefill=True))
    ticking.add(make_submission(prompt_of(3), max_steps=2))
    ticking.add(make_submission(prompt_of(40), max_steps=2))

    assert [denoising(ticking.tick()) for _ in range(5)] == [[1], [], [], [2], [1, 2]]


def test_everything_ends_and_returns_its_pages() -> None:
    """A batch in lockstep ends like any other."""
    ticking = Ticking(LOCKSTEP)
    for steps in (2, 3, 1, 4, 2):
        ticking.add(make_submission(max_tokens=20, max_steps=steps))
    ticking.finish()

    assert len(ticking.ended) == 5
    assert ticking.batcher.pool.used == 0


def test_pages_are_never_shared() -> None:
    """What is computed for nothing is written somewhere, so no page is found again by its content."""
    ticking = Ticking(replace(LOCKSTEP, prefix_cache=True))
    for _ in range(2):
        again = ticking.add(make_submission(prompt_of(16), max_steps=1))
        ticking.finish()

    assert again.cached_tokens == 0
