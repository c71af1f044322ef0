"""Sequences that wait for room: a queue per service class, tenant and bucket."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from math import inf
from typing import NamedTuple

from unmask.sched.accounts import Accounts, ClassAccount
from unmask.sequence import Sequence
from unmask.service import QueueLoad
from unmask.types import Bucket

AGING = 8
"""One place in so many goes to the request of its class that has waited longest, whosever it is."""

Wanted = Callable[[Bucket | None], bool]


class _Entry(NamedTuple):
    """A sequence in its line; those that are due first come first."""

    due: float
    arrived: float
    id: int
    sequence: Sequence


_Lines = dict[str, dict[Bucket | None, list[_Entry]]]


@dataclass(slots=True)
class _Tally:
    """What a class's bucket has in line, and what has left it for a batch."""

    waiting: int = 0
    admitted: int = 0
    waited_s: float = 0.0


@dataclass(slots=True)
class _ClassQueue:
    lines: _Lines = field(default_factory=dict)
    tallies: dict[Bucket | None, _Tally] = field(default_factory=dict)
    waiting: int = 0


def any_bucket(_: Bucket | None) -> bool:
    """Want whatever there is."""
    return True


def due(sequence: Sequence, patience_s: float) -> float:
    """Return when a sequence is to be answered: by its class's deadline, else within the queue's patience."""
    deadline = sequence.submission.terms.deadline_s
    return sequence.arrived + (patience_s if deadline is None else deadline)


class WaitingQueue:
    """Bounded queues of sequences, ``limit`` to a class.

    Inside a class the tenant that has had least goes first, and of its requests
    the one that is due first. Every eighth place goes to whoever has waited
    longest, so that no stream of newcomers keeps anybody waiting for ever; what
    it costs is booked to its tenant like anything else.
    """

    def __init__(self, limit: int, patience_s: float) -> None:
        self.limit = limit
        self._patience_s = patience_s
        self._classes: dict[str, _ClassQueue] = {}

    def __len__(self) -> int:
        return sum(found.waiting for found in self._classes.values())

    @property
    def lines(self) -> int:
        """Number of tenants that wait, each counted in every class."""
        return sum(len(found.lines) for found in self._classes.values())

    def waiting(self, service_class: str) -> int:
        """Number of sequences of a class."""
        found = self._classes.get(service_class)
        return 0 if found is None else found.waiting

    def is_full(self, service_class: str) -> bool:
        """Whether one more of a class would be too many."""
        return self.waiting(service_class) >= self.limit

    def push(self, sequence: Sequence) -> None:
        """Add a sequence."""
        submission = sequence.submission
        found = self._classes.setdefault(submission.terms.name, _ClassQueue())
        line = found.lines.setdefault(submission.tenant, {}).setdefault(submission.bucket, [])
        heappush(line, _Entry(due(sequence, self._patience_s), sequence.arrived, sequence.id, sequence))
        found.waiting += 1
        found.tallies.setdefault(submission.bucket, _Tally()).waiting += 1

    def next_of(self, account: ClassAccount, wanted: Wanted = any_bucket) -> Sequence | None:
        """Return the sequence of a class whose turn it is, without taking it."""
        heads = list(self._heads(account.terms.name, wanted))
        if not heads:
            return None
        if account.picks % AGING == AGING - 1:
            return min(heads, key=_by_age).sequence

        def turn(entry: _Entry) -> tuple[float, _Entry]:
            tenant = account.tenants[entry.sequence.submission.tenant]
            return tenant.used + tenant.promised, entry

        return min(heads, key=turn).sequence

    def oldest_of(self, service_class: str) -> Sequence | None:
        """Return the sequence of a class that has waited longest."""
        oldest = min(self._heads(service_class, any_bucket), key=_by_age, default=None)
        return None if oldest is None else oldest.sequence

    def take(self, sequence: Sequence, now: float) -> None:
        """Take a sequence out, for a place in a batch."""
        self._remove(sequence)
        tally = self._classes[sequence.submission.terms.name].tallies[sequence.submission.bucket]
        tally.admitted += 1
        tally.waited_s += now - sequence.arrived

    def remove(self, sequences: Iterable[Sequence]) -> None:
        """Take sequences out that will not run; many at once, each line is looked through once."""
        gone: dict[tuple[str, str, Bucket | None], set[int]] = {}
        for sequence in sequences:
            submission = sequence.submission
            place = submission.terms.name, submission.tenant, submission.bucket
            gone.setdefault(place, set()).add(sequence.id)
        for (name, tenant, bucket), ids in gone.items():
            line = self._classes[name].lines[tenant][bucket]
            line[:] = [entry for entry in line if entry.id not in ids]
            heapify(line)
            self._shrunk(name, tenant, bucket, by=len(ids))

    def in_buckets(self) -> dict[Bucket | None, int]:
        """Return how many wait in each bucket, over all classes."""
        counts: dict[Bucket | None, int] = {}
        for found in self._classes.values():
            for bucket, tally in found.tallies.items():
                counts[bucket] = counts.get(bucket, 0) + tally.waiting
        return counts

    def earliest_due(self) -> float:
        """Return when the first of all who wait is to be answered; infinity where nobody waits."""
        return min((entry.due for entry in self._firsts()), default=inf)

    def earliest_arrival(self) -> float:
        """Return when whoever is first in line somewhere and has waited longest came; infinity where nobody waits."""
        return min((entry.arrived for entry in self._firsts()), default=inf)

    def most_steps(self) -> int:
        """Return the most steps that anybody who waits may take."""
        entries = (entry for buckets in self._lines() for line in buckets.values() for entry in line)
        return max((entry.sequence.submission.budget.max_total_steps or 0 for entry in entries), default=0)

    def loads(self, now: float, accounts: Accounts) -> tuple[QueueLoad, ...]:
        """Return what waits, by class and bucket; those that have ever had a request."""
        loads = []
        for name, found in self._classes.items():
            account = accounts.named(name)
            deadline = None if account is None else account.terms.deadline_s
            oldest = self._oldest(found)
            for bucket, tally in found.tallies.items():
                since = oldest.get(bucket)
                loads.append(
                    QueueLoad(
                        service_class=name,
                        bucket=bucket,
                        waiting=tally.waiting,
                        oldest_s=0.0 if since is None else now - since,
                        patience_s=self._patience_s if deadline is None else deadline,
                        admitted=tally.admitted,
                        waited_s=tally.waited_s,
                    )
                )
        return tuple(loads)

    def _lines(self) -> Iterator[dict[Bucket | None, list[_Entry]]]:
        return (buckets for found in self._classes.values() for buckets in found.lines.values())

    def _firsts(self) -> Iterator[_Entry]:
        return (line[0] for buckets in self._lines() for line in buckets.values())

    def _oldest(self, found: _ClassQueue) -> dict[Bucket | None, float]:
        oldest: dict[Bucket | None, float] = {}
        for buckets in found.lines.values():
            for bucket, line in buckets.items():
                oldest[bucket] = min(oldest.get(bucket, line[0].arrived), line[0].arrived)
        return oldest

    def _heads(self, service_class: str, wanted: Wanted) -> Iterator[_Entry]:
        found = self._classes.get(service_class)
        for buckets in () if found is None else found.lines.values():
            yield from (line[0] for bucket, line in buckets.items() if wanted(bucket))

    def _remove(self, sequence: Sequence) -> None:
        submission = sequence.submission
        name, tenant, bucket = submission.terms.name, submission.tenant, submission.bucket
        line = self._classes[name].lines[tenant][bucket]
        if line[0].sequence is sequence:
            heappop(line)
        else:
            line[:] = [entry for entry in line if entry.sequence is not sequence]
            heapify(line)
        self._shrunk(name, tenant, bucket, by=1)

    def _shrunk(self, name: str, tenant: str, bucket: Bucket | None, *, by: int) -> None:
        found = self._classes[name]
        buckets = found.lines[tenant]
        if not buckets[bucket]:
            del buckets[bucket]
        if not buckets:
            del found.lines[tenant]
        found.waiting -= by
        found.tallies[bucket].waiting -= by


def _by_age(entry: _Entry) -> tuple[float, int]:
    return entry.arrived, entry.id
