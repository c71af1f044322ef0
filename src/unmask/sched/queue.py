"""Sequences that wait for room, first come, first served."""

from collections import deque

from unmask.sequence import Sequence


class WaitingQueue:
    """A bounded queue; the front waits until it fits, nothing overtakes it."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._waiting: deque[Sequence] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def is_full(self) -> bool:
        """Whether one more would be too many."""
        return len(self._waiting) >= self.limit

    def push(self, sequence: Sequence) -> None:
        """Add a sequence at the back."""
        self._waiting.append(sequence)

    def front(self) -> Sequence | None:
        """Return the next sequence without taking it."""
        return self._waiting[0] if self._waiting else None

    def pop(self) -> Sequence:
        """Take the next sequence."""
        return self._waiting.popleft()

    def remove_aborted(self) -> list[Sequence]:
        """Take out and return every sequence whose abort was asked for."""
        aborted = [sequence for sequence in self._waiting if sequence.abort_requested]
        if aborted:
            self._waiting = deque(sequence for sequence in self._waiting if not sequence.abort_requested)
        return aborted
