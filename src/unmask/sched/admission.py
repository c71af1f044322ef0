"""Gives a sequence its pages for the worst case, or lets it wait; and says whose turn it is to be given any."""

from collections.abc import Callable
from math import ceil

from unmask.sched.accounts import Accounts, ClassAccount
from unmask.sched.pages import PagePool
from unmask.sched.prefix import PrefixCache
from unmask.sched.queue import WaitingQueue
from unmask.sched.settings import SchedSettings
from unmask.sched.turn import most_rows
from unmask.sequence import Sequence, Submission


def pages_needed(submission: Submission, page_size: int) -> int:
    """Return the pages a request may come to use, shared ones included."""
    return -(-submission.max_length // page_size)


def admit(
    sequence: Sequence, pool: PagePool, cache: PrefixCache, page_size: int, now: float, *, room: int | None = None
) -> bool:
    """Reserve all pages ``sequence`` may need, sharing those that hold its prompt's beginning.

    Args:
        sequence: waits.
        pool: has the pages.
        cache: finds those to share.
        page_size: tokens a page holds.
        now: becomes the time at which it started.
        room: pages of the pool that it may take; ``None``: all that are there.

    Returns:
        Whether there was room; if not, nothing has changed.
    """
    shared, content = cache.match(sequence)
    fresh = pages_needed(sequence.submission, page_size) - len(shared)
    available = pool.available if room is None else min(room, pool.available)
    if fresh > available - sum(map(pool.is_kept, shared)):
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


def room_for(account: ClassAccount, accounts: Accounts, settings: SchedSettings, available: int) -> int:
    """Return the pages that a class may take: all that are free but what is kept for others and not yet theirs."""
    kept = 0
    for name in settings.reserves_beside(account.terms.name):
        other = accounts.named(name)
        kept += max(0, settings.reserved_pages(name) - (0 if other is None else other.pages))
    return available - kept


def fill_step(
    queue: WaitingQueue, accounts: Accounts, settings: SchedSettings, start: Callable[[Sequence, int | None], bool]
) -> None:
    """Give places to waiting sequences, class by class in their order.

    While there are free rows anybody gets one. Without, a class that has fewer running than is its part gets a place
    all the same, and from then on others pause: what its part is not used for was lent to them. The first that does
    not fit keeps its place in line, and whoever comes after it gets only what is kept for their own class.

    Args:
        queue: of waiting sequences.
        accounts: told by ``start`` of each that runs.
        settings: how many rows there are.
        start: gives a sequence its pages, of so many or of all that its class may have; tells whether there were any.
    """
    blocked: set[str] = set()
    while (account := _whose_turn(queue, accounts, settings, blocked)) is not None:
        sequence = queue.next_of(account)
        assert sequence is not None, "a class whose turn it is has somebody waiting"
        name = account.terms.name
        own = max(0, settings.reserved_pages(name) - account.pages) if blocked else None
        if not start(sequence, own):
            blocked.add(name)


def _whose_turn(
    queue: WaitingQueue, accounts: Accounts, settings: SchedSettings, blocked: set[str]
) -> ClassAccount | None:
    present = accounts.present()
    running = sum(account.running for account in present)
    weights = sum(account.terms.weight for account in present)
    for account in present:
        terms = account.terms
        if terms.name in blocked or not queue.waiting(terms.name):
            continue
        part = max(terms.weight / weights, terms.min_share)
        most = most_rows(terms.max_share, settings)
        lent = account.running < max(1, ceil(part * settings.max_rows))
        if account.running < most and (running < settings.max_rows or lent):
            return account
    return None
