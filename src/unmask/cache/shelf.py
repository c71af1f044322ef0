"""The vectors of one scope's entries, in one block of memory."""

import numpy as np

from unmask.cache.entry import Entry
from unmask.knowledge.embedding import Vectors

_FIRST_ROWS = 4


class Shelf:
    """Entries whose questions are compared with one another: of one scope, and of one embedder."""

    def __init__(self, dimensions: int) -> None:
        self._rows: Vectors = np.zeros((_FIRST_ROWS, dimensions), np.float32)
        self._entries: list[Entry] = []
        self._places: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, entry: Entry) -> None:
        """Put an entry with a meaning onto it."""
        assert entry.meaning is not None, "what has no vector cannot be compared"
        count = len(self._entries)
        if count == len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
        self._rows[count] = entry.meaning.vector
        self._places[entry.id] = count
        self._entries.append(entry)

    def remove(self, entry: Entry) -> None:
        """Take an entry off; the last one takes its place."""
        place = self._places.pop(entry.id)
        last = self._entries.pop()
        if last.id != entry.id:
            self._entries[place] = last
            self._rows[place] = self._rows[len(self._entries)]
            self._places[last.id] = place

    def nearest(self, vector: Vectors, least: float, most: int) -> tuple[tuple[Entry, float], ...]:
        """Return the entries most like a vector of its dimensions, and how alike they are, most alike first.

        Args:
            vector: a unit vector, [dimensions].
            least: cosine below which nothing is alike.
            most: how many are returned.
        """
        alike = self._rows[: len(self._entries)] @ vector
        places = np.flatnonzero(alike >= least)
        best = places[np.argsort(-alike[places], kind="stable")][:most]
        return tuple((self._entries[place], float(min(alike[place], 1.0))) for place in best)
