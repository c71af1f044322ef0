"""Keeps entries in memory, bounded by their number, their bytes and their age."""

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from unmask.cache.entry import Entry, Meaning, Question, Scope
from unmask.cache.shelf import Shelf
from unmask.clock import Clock

COMPARED = 16
"""Most entries of a scope that are looked at closely: those with the nearest vectors."""


class Gone(StrEnum):
    """Why an entry is kept no longer."""

    ENTRIES = "entries"
    BYTES = "bytes"
    AGE = "age"
    REPLACED = "replaced"
    FORGOTTEN = "forgotten"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What entries may take: how many, how many bytes all together, and how old in seconds."""

    entries: int
    bytes: int
    ttl_s: float


class AnswerStore:
    """The entries of all tenants. Full, it lets go of what was used longest ago; all of it runs on one thread.

    Args:
        bounds: what entries may take.
        clock: tells their age.
    """

    def __init__(self, bounds: Bounds, clock: Clock) -> None:
        self._bounds = bounds
        self._clock = clock
        self._gone: Counter[Gone] = Counter()
        self._bytes = 0
        self._entries: OrderedDict[str, Entry] = OrderedDict()
        self._exact: dict[Question, str] = {}
        self._shelves: dict[tuple[Scope, str, int], Shelf] = {}
        self._tenants: defaultdict[str, set[str]] = defaultdict(set)

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def bytes(self) -> int:
        """Bytes that entries take."""
        return self._bytes

    @property
    def gone(self) -> Mapping[Gone, int]:
        """Entries that are kept no longer, by why."""
        return self._gone

    def age_s(self, entry: Entry) -> float:
        """Return how long ago an entry was put in."""
        return max(0.0, self._clock.now() - entry.stored)

    def same(self, question: Question) -> Entry | None:
        """Return the entry of the very same question, if there is one that is not too old."""
        found = self._exact.get(question)
        return None if found is None else self._fresh(self._entries[found])

    def alike(self, scope: Scope, meaning: Meaning, least: float) -> tuple[tuple[Entry, float], ...]:
        """Return the entries of a scope whose questions are most alike, and how alike, as `Shelf.nearest` does."""
        shelf = self._shelves.get(_place(scope, meaning))
        if shelf is None:
            return ()
        found = shelf.nearest(meaning.vector, least, COMPARED)
        return tuple(pair for pair in found if self._fresh(pair[0]) is not None)

    def used(self, entry: Entry) -> None:
        """Take note that an entry was given: it is let go of last."""
        if entry.id in self._entries:
            self._entries.move_to_end(entry.id)

    def add(self, entry: Entry) -> bool:
        """Keep an entry in place of one of the same question; return whether there is room for one so large."""
        if entry.size > self._bounds.bytes:
            return False
        before = self._exact.get(entry.question)
        if before is not None:
            self._remove(before, Gone.REPLACED)
        self._entries[entry.id] = entry
        self._exact[entry.question] = entry.id
        self._tenants[entry.question.scope.tenant].add(entry.id)
        self._bytes += entry.size
        if entry.meaning is not None:
            place = _place(entry.question.scope, entry.meaning)
            self._shelves.setdefault(place, Shelf(place[2])).add(entry)
        while self._bytes > self._bounds.bytes:
            self._remove(next(iter(self._entries)), Gone.BYTES)
        while len(self._entries) > self._bounds.entries:
            self._remove(next(iter(self._entries)), Gone.ENTRIES)
        return True

    def forget(self, ids: Iterable[str], *, tenant: str | None = None) -> int:
        """Let go of entries, of one tenant's only where ``tenant`` names it; return how many there were."""
        there = [id_ for id_ in ids if id_ in self._entries]
        ours = [id_ for id_ in there if tenant is None or self._entries[id_].question.scope.tenant == tenant]
        for id_ in ours:
            self._remove(id_, Gone.FORGOTTEN)
        return len(ours)

    def ids(self, *, tenant: str | None = None) -> tuple[str, ...]:
        """Return the ids of all entries, or of one tenant's."""
        return tuple(self._entries if tenant is None else self._tenants.get(tenant, ()))

    def _fresh(self, entry: Entry) -> Entry | None:
        if self.age_s(entry) <= self._bounds.ttl_s:
            return entry
        self._remove(entry.id, Gone.AGE)
        return None

    def _remove(self, id_: str, reason: Gone) -> None:
        entry = self._entries.pop(id_)
        self._bytes -= entry.size
        del self._exact[entry.question]
        of_tenant = self._tenants[entry.question.scope.tenant]
        of_tenant.discard(id_)
        if not of_tenant:
            del self._tenants[entry.question.scope.tenant]
        if entry.meaning is not None:
            place = _place(entry.question.scope, entry.meaning)
            self._shelves[place].remove(entry)
            if not len(self._shelves[place]):
                del self._shelves[place]
        self._gone[reason] += 1


def _place(scope: Scope, meaning: Meaning) -> tuple[Scope, str, int]:
    # A server may change its model behind one name, and with it the length of its vectors.
    return scope, meaning.embedder, len(meaning.vector)
