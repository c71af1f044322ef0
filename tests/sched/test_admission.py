"""A sequence is let in with all the pages it may come to need, or waits unchanged."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmask.sched.admission import admit, pages_needed
from unmask.sched.pages import PagePool
from unmask.sched.prefix import PrefixCache
from unmask.testing.sequences import make_sequence
from unmask.testing.submissions import make_submission
from unmask.types import Mode


@pytest.mark.parametrize(
    ("prompt", "changes", "length"),
    [
        (3, {"max_tokens": 8}, 11),
        (3, {"max_tokens": 1}, 11),
        (3, {"max_tokens": 9}, 19),
        (3, {"max_tokens": 9, "mode": Mode.AUTOREGRESSIVE}, 12),
        (250, {"max_tokens": 6}, 256),
        (200, {"max_tokens": 56, "canvas_length": 32}, 256),
    ],
)
def test_the_worst_case_is_whole_canvases_within_the_context(prompt: int, changes: dict[str, Any], length: int) -> None:
    """Canvases take their full length, cut only where the context ends; decoding takes its tokens alone."""
    submission = make_submission(tuple(range(prompt)), **changes)

    assert submission.max_length == length
    for size in (1, 7, 16):
        assert pages_needed(submission, size) == -(-length // size)


def test_without_room_nothing_changes() -> None:
    """A sequence that does not fit gets no page, and no page changes."""
    pool = PagePool(3)
    held = pool.allocate(2)
    sequence = make_sequence(make_submission(max_tokens=16, canvas_length=16))

    assert not admit(sequence, pool, PrefixCache(pool, 16, enabled=True), 16, 5.0)
    assert (sequence.pages, sequence.started, pool.available) == ([], None, 1)
    pool.release(held)
    assert admit(sequence, pool, PrefixCache(pool, 16, enabled=True), 16, 5.0)
    assert (len(sequence.pages), sequence.started) == (2, 5.0)


def test_kept_pages_it_shares_are_not_counted_twice() -> None:
    """A kept page that becomes shared is no longer free to be allocated."""
    pool = PagePool(3)
    cache = PrefixCache(pool, 4, enabled=True)
    first = make_sequence(make_submission((1, 2, 3, 4), max_tokens=8, canvas_length=8))
    assert admit(first, pool, cache, 4, 0.0)
    first.committed = 4
    cache.register(first)
    pool.release(first.pages)
    other = pool.allocate(1)
    second = make_sequence(make_submission((1, 2, 3, 4), max_tokens=8, canvas_length=8))

    assert not admit(second, pool, cache, 4, 0.0)
    pool.release(other)
    assert admit(second, pool, cache, 4, 0.0)
    assert second.cached_tokens == 4


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)), max_size=12), st.integers(1, 9), st.booleans())
def test_what_is_let_in_never_runs_out(requests: list[tuple[int, int]], page_size: int, cached: bool) -> None:
    """Whatever is let in has its pages from the start, and letting in never fails for want of a page."""
    pool = PagePool(30)
    cache = PrefixCache(pool, page_size, enabled=cached)
    running = []
    for prompt, output in requests:
        sequence = make_sequence(make_submission(tuple(range(prompt)), max_tokens=output))
        fits = pages_needed(sequence.submission, page_size) <= pool.available
        let_in = admit(sequence, pool, cache, page_size, 0.0)
        assert let_in or not fits
        if let_in:
            assert len(sequence.pages) * page_size >= sequence.submission.max_length
            assert len(sequence.pages) == len(set(sequence.pages))
            sequence.committed = prompt
            cache.register(sequence)
            running.append(sequence)
        elif running:
            pool.release(running.pop(0).pages)
    for sequence in running:
        pool.release(sequence.pages)

    assert pool.used == 0
