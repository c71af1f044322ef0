"""Gives a sequence its pages for the worst case, or lets it wait."""

from unmask.sched.pages import PagePool
from unmask.sched.prefix import PrefixCache
from unmask.sequence import Sequence, Submission


def pages_needed(submission: Submission, page_size: int) -> int:
    """Return the pages a request may come to use, shared ones included."""
    return -(-submission.max_length // page_size)


def admit(sequence: Sequence, pool: PagePool, cache: PrefixCache, page_size: int, now: float) -> bool:
    """Reserve all pages ``sequence`` may need, sharing those that hold its prompt's beginning.

    Returns whether there was room; if not, nothing has changed.
    """
    shared, content = cache.match(sequence)
    fresh = pages_needed(sequence.submission, page_size) - len(shared)
    if fresh > pool.available - sum(map(pool.is_kept, shared)):
        return False
    for page in shared:
        pool.share(page)
    sequence.pages = shared + pool.allocate(fresh)
    sequence.committed = sequence.cached_tokens = len(shared) * page_size
    sequence.hashed_pages = len(shared)
    sequence.page_hash = content
    sequence.pending = sequence.submission.prompt[sequence.committed :]
    sequence.started = now
    return True
