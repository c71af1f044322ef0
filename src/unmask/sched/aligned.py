"""Aligned batches: filled once, of one bucket, and each of their rows waits for the slowest.

No canvas starts before all rows have finished the one before, and no request
joins before all have ended. That is how backends run that cannot take anybody
in meanwhile; the nearer the rows' budgets, the less they wait.
"""

from collections.abc import Collection, Iterator

from unmask.sched.accounts import Accounts
from unmask.sched.queue import WaitingQueue, Wanted
from unmask.sequence import Sequence
from unmask.types import Bucket

_LARGEST_LAST: tuple[Bucket | None, ...] = (*Bucket, None)


def stage_due(running: Collection[Sequence]) -> list[Sequence]:
    """Return the sequences furthest behind; the others wait for them."""
    behind = min((_stage(sequence) for sequence in running), default=0)
    return [sequence for sequence in running if _stage(sequence) == behind]


def batch_of(queue: WaitingQueue, accounts: Accounts, *, rows: int, overdue: float) -> Iterator[Sequence]:
    """Yield the sequences of the next batch, each taken out before the next is asked for.

    The class whose turn it is says which bucket the batch is of: that of its next request, or of a bucket that fills
    the batch where its own does not. A request that arrived before ``overdue`` is passed over no more: where its
    bucket does not fill the batch, the next larger ones do.
    """
    lead = next((found for one in accounts.present() if (found := queue.next_of(one)) is not None), None)
    if lead is None:
        return
    oldest = queue.oldest_of(lead.submission.terms.name)
    counts = queue.in_buckets()
    if oldest is not None and oldest.arrived <= overdue:
        lead, buckets = oldest, _upward(oldest.submission.bucket, counts, rows)
    else:
        full = {bucket for bucket, count in counts.items() if count >= rows}
        wanted = lead.submission.bucket
        buckets = {wanted} if wanted in full or not full else full
        if wanted not in buckets:
            found = _next(queue, accounts, buckets.__contains__)
            assert found is not None, "a full bucket has a request"
            lead, buckets = found, {found.submission.bucket}
    yield lead
    while (found := _next(queue, accounts, buckets.__contains__)) is not None:
        yield found


def _next(queue: WaitingQueue, accounts: Accounts, wanted: Wanted) -> Sequence | None:
    return next((found for one in accounts.present() if (found := queue.next_of(one, wanted)) is not None), None)


def _upward(bucket: Bucket | None, counts: dict[Bucket | None, int], rows: int) -> set[Bucket | None]:
    """Return a bucket, and as many of the larger ones as it takes to fill a batch."""
    chosen: set[Bucket | None] = set()
    filled = 0
    for larger in _LARGEST_LAST[_LARGEST_LAST.index(bucket) :]:
        if filled >= rows:
            break
        chosen.add(larger)
        filled += counts.get(larger, 0)
    return chosen


def _stage(sequence: Sequence) -> int:
    """Number the stages of a sequence: prompt, first canvas open, first canvas done, second open, and so on."""
    if sequence.pending and not sequence.output:
        return 0
    return 2 * sequence.canvases + (1 if sequence.canvas is None else 0)
